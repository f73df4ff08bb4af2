import { parseArgs } from 'node:util';
import { TARGETS, type TargetName } from './targets.ts';

export interface RunOptions {
  readonly targets: readonly TargetName[];
  readonly minutes: number;
  readonly seed: string;
}

export const USAGE = `npm run fuzz -- [options]
  --target <name>   ${TARGETS.join(', ')}; repeatable, all by default
  --minutes <n>     the time for each target (1)
  --seed <text>     makes the inputs of an earlier run again, in as far as they do not depend on time
  --help            prints this text`;

/** Throws an error with a message for the user if an option is unknown or has a wrong value. */
export function readOptions(args: readonly string[]): RunOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      target: { type: 'string', multiple: true },
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes "${values.minutes}" is not a number above 0`);
  return { targets: (values.target ?? TARGETS).map(targetOf), minutes, seed: values.seed };
}

function targetOf(text: string): TargetName {
  const target = TARGETS.find((name) => name === text);
  if (target === undefined) throw new Error(`--target "${text}" is not one of ${TARGETS.join(', ')}`);
  return target;
}
