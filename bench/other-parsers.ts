import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { PARSE_DEFINITIONS, type Team } from './parse-inputs.ts';

/** Another program's parser. It returns the value or throws. */
export interface OtherParser {
  readonly name: string;
  readonly parse: (text: string) => unknown;
  /** Parses a reply that is incomplete; undefined if the parser cannot. */
  readonly parsePartial?: (text: string) => unknown;
}

type Load = (name: string) => Readonly<Record<string, unknown>>;

/** The parsers that are installed (`npm --prefix bench install`). Only BAML's knows the type; the others read any JSON. */
export function otherParsers(): readonly OtherParser[] {
  const load = createRequire(new URL('../../bench/package.json', import.meta.url)) as Load;
  return [jsonRepair, partialJson, baml].flatMap((create) => {
    try {
      return [create(load)];
    } catch {
      return [];
    }
  });
}

/** True if the result of a parser, a value or its JSON text, equals this value. */
export function isValue(given: unknown, team: Team): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(typeof given === 'string' ? given : JSON.stringify(given)), team);
  } catch {
    return false;
  }
}

function jsonRepair(load: Load): OtherParser {
  return { name: 'jsonrepair', parse: callable(load('jsonrepair')['jsonrepair']) };
}

function partialJson(load: Load): OtherParser {
  const parse = callable(load('partial-json')['parse']);
  return { name: 'partial-json', parse, parsePartial: parse };
}

/** The parser alone, in this process: no model, no server. */
interface BamlRuntime {
  createContextManager(): unknown;
  parseLlmResponse(...args: readonly unknown[]): unknown;
}

function baml(load: Load): OtherParser {
  const { BamlRuntime } = load('@boundaryml/baml/native') as unknown as {
    readonly BamlRuntime: { fromFiles(root: string, files: object, env: object): BamlRuntime };
  };
  const runtime = BamlRuntime.fromFiles('baml_src', { 'bench.baml': PARSE_DEFINITIONS }, {});
  const context = runtime.createContextManager();
  const read = (text: string, partial: boolean): unknown =>
    runtime.parseLlmResponse('Extract', text, partial, context, null, null, {});
  return { name: 'BAML', parse: (text) => read(text, false), parsePartial: (text) => read(text, true) };
}

function callable(candidate: unknown): (text: string) => unknown {
  if (typeof candidate !== 'function') throw new TypeError('the package does not export the expected function');
  return candidate as (text: string) => unknown;
}
