import { parseArgs } from 'node:util';
import type { Kind } from './kind.ts';
import { KINDS } from './kinds.ts';
import { STRUCTURED_KINDS } from './structured.ts';

export interface RecoverOptions {
  readonly seed: number;
  readonly perKind: number;
  readonly kinds: readonly Kind[];
  /** Whether the replies are those of providers that received the schema of the type. */
  readonly structured: boolean;
  /** Whether to print the replies that are not exact. */
  readonly show: boolean;
  readonly json: string | undefined;
  /** Whether the run leaves nothing out; only such a run writes a result. */
  readonly complete: boolean;
}

const SEED = 15;
const PER_KIND = 60;

export const USAGE = `npm run recover -- [options]
  --seed <n>        makes other values and replies (${SEED})
  --per-kind <n>    replies of each kind (${PER_KIND})
  --kind <text>     only the kinds whose "group: name" contains this; repeatable
  --structured-output   replies of providers that honour the schema of the type, in place of damaged ones; only svc reads them
  --show            prints the type, the truth, the reply and the results of each reply that svc does not read exactly
  --json <file>     writes every reply with its results
  --help            prints this text`;

/** Throws an error with a message for the user if an option is unknown or has a wrong value. */
export function readOptions(args: readonly string[]): RecoverOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      'per-kind': { type: 'string' },
      kind: { type: 'string', multiple: true },
      'structured-output': { type: 'boolean', default: false },
      show: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { seed, 'per-kind': perKind, kind, show, json, 'structured-output': structured } = values;
  const all = structured ? STRUCTURED_KINDS : KINDS;
  const kinds = all.filter((each) => kind === undefined || kind.some((text) => nameOf(each).includes(text)));
  if (kinds.length === 0) throw new Error(`--kind "${kind?.join(', ')}" is contained in the name of no kind`);
  return {
    seed: count('--seed', seed ?? String(SEED)),
    perKind: count('--per-kind', perKind ?? String(PER_KIND)),
    kinds,
    structured,
    show,
    json,
    complete: !structured && [seed, perKind, kind].every((value) => value === undefined),
  };
}

export function nameOf({ group, name }: Kind): string {
  return `${group}: ${name}`;
}

function count(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${flag} "${text}" is not an integer above 0`);
  return value;
}
