import { canonicalJson, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { DefinitionIndex, FunctionType } from '../../../schema/program.ts';
import { acceptsNull, typeText } from '../../../schema/type-graph.ts';
import type { Type } from '../../../schema/type.ts';
import type { RunFailure } from '../../local-runtime.ts';
import type { TestCaller } from '../test-caller.ts';
import { withoutChecks } from '../../../runtime/call/test-conditions.ts';
import { kindsOf, type DataRow } from './data-rows.ts';

/** The opinion of a judge about a value. */
export type Judgement =
  | { readonly score: boolean | number; readonly passes: boolean; readonly cost?: number | undefined }
  | { readonly failure: RunFailure };

interface JudgeParts {
  readonly fn: FunctionType;
  readonly definitions: DefinitionIndex;
  /** The function that it judges. */
  readonly judged: FunctionType;
  /** The least number that passes. */
  readonly pass: number;
  readonly caller: TestCaller;
}

/** Returns the judge of these rows, or the reason why the function cannot judge them, as a sentence. */
export function createJudge(parts: JudgeParts, rows: readonly DataRow[]): Result<Judge, string> {
  const problem = problemOf(parts, rows);
  return problem === undefined ? ok(new Judge(parts)) : err(problem);
}

const PARAMETERS = ['input', 'output', 'expected'] as const;

function problemOf({ fn, definitions, judged }: JudgeParts, rows: readonly DataRow[]): string | undefined {
  const kinds = kindsOf([fn.returns], definitions);
  if (kinds.size !== 1 || !(kinds.has('boolean') || kinds.has('number'))) {
    return `"${fn.name}" returns ${typeText(fn.returns)}, but a judge returns bool, int or float`;
  }
  const [only, second] = judged.parameters;
  const sources: Readonly<Record<string, Type | undefined>> = {
    input: second === undefined ? only?.type : undefined,
    output: judged.returns,
    expected: judged.returns,
  };
  for (const { name, type } of fn.parameters) {
    if (!PARAMETERS.some((known) => known === name)) {
      return `"${fn.name}" has the parameter "${name}", but the parameters of a judge are called ${PARAMETERS.join(', ')}`;
    }
    const source = sources[name];
    if (source === undefined || takesText(type) || takes(type, source)) continue;
    return `the parameter "${name}" of "${fn.name}" is ${typeText(type)}. Declare it as string or ${typeText(source)}`;
  }
  const expected = fn.parameters.find(({ name }) => name === 'expected');
  if (expected === undefined || acceptsNull(expected.type, definitions.aliases)) return undefined;
  const row = rows.find((each) => each.expected.length === 0);
  if (row === undefined) return undefined;
  return `"${fn.name}" needs an expected value, which the row ${JSON.stringify(row.id)} lacks. Add it, or make the parameter "expected" optional`;
}

function membersOf(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.members : [type];
}

function takesText(type: Type): boolean {
  return membersOf(type).some(({ kind }) => kind === 'string');
}

/** Whether the parameter accepts every value of the source. */
function takes(parameter: Type, source: Type): boolean {
  const accepted = new Set(membersOf(parameter).map(typeText));
  return membersOf(source).every(
    (type) => accepted.has(typeText(type)) || (type.kind === 'int' && accepted.has('float')),
  );
}

/** Asks a function of the definitions about values, and asks only once about equal ones. */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #judgements = new Map<string, Promise<Judgement | undefined>>();

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** Undefined if the tests are cancelled meanwhile. */
  judgement(row: DataRow, value: JsonValue): Promise<Judgement | undefined> {
    const args = this.#arguments(row, value);
    const key = canonicalJson(args);
    let judgement = this.#judgements.get(key);
    if (judgement === undefined) {
      judgement = this.#ask(args);
      this.#judgements.set(key, judgement);
    }
    return judgement;
  }

  /** US dollars for all calls whose cost is known; undefined if none is. */
  async cost(): Promise<number | undefined> {
    const judgements = await Promise.all(this.#judgements.values());
    const known = judgements.flatMap((judgement) =>
      judgement !== undefined && 'score' in judgement ? (judgement.cost ?? []) : [],
    );
    return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0);
  }

  async #ask(args: JsonObject): Promise<Judgement | undefined> {
    const { fn, pass, caller } = this.#parts;
    const run = await caller.call({ fn, args, client: undefined, repetition: 0 });
    if (run === undefined) return undefined;
    if (run.failure !== undefined) return { failure: run.failure };
    const { value: score } = withoutChecks(run.value ?? null);
    if (typeof score !== 'boolean' && typeof score !== 'number') return { failure: NO_SCORE };
    return { score, passes: typeof score === 'boolean' ? score : score >= pass, cost: run.cost };
  }

  #arguments({ args, expected }: DataRow, output: JsonValue): JsonObject {
    const { fn, judged, definitions } = this.#parts;
    const { aliases } = definitions;
    const [only, second] = judged.parameters;
    const sources: Readonly<Record<string, JsonValue>> = {
      input: only !== undefined && second === undefined ? (args[only.name] ?? null) : args,
      output,
      expected: expectedValue(expected),
    };
    const entries = fn.parameters.map(({ name, type }): [string, JsonValue] => {
      const value = sources[name] ?? null;
      const asItIs = typeof value === 'string' || !takesText(type) || (value === null && acceptsNull(type, aliases));
      return [name, asItIs ? value : JSON.stringify(value, undefined, 2)];
    });
    return Object.fromEntries(entries);
  }
}

const NO_SCORE: RunFailure = { code: 'invalid_test', message: 'The judge returned neither a bool nor a number.' };

/** The whole value, or an object with the expected fields by their paths; null if nothing is known. */
export function expectedValue(expected: DataRow['expected']): JsonValue {
  const whole = expected.find(({ path }) => path.length === 0);
  if (whole !== undefined) return whole.value;
  return expected.length === 0 ? null : Object.fromEntries(expected.map(({ path, value }) => [path.join('.'), value]));
}
