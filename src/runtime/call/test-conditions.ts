import { isJsonObject, ownValue, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Constraint } from '../../schema/constraint.ts';
import type { DefinitionIndex, FunctionType } from '../../schema/program.ts';
import { compileTestCondition } from '../prompt/compile-condition.ts';

/** The facts that the conditions of a test can read. */
export interface TestedCall {
  /** As a call returns it: values with checks are objects with `value` and `checks`. */
  readonly value: JsonValue;
  readonly args: JsonObject;
  /** Milliseconds of waiting for models. */
  readonly latencyMs: number;
}

export interface ConditionOutcome {
  readonly constraint: Constraint;
  /** `skipped`: an assert before it does not hold. */
  readonly status: 'succeeded' | 'failed' | 'skipped';
  /** Why svc could not evaluate a condition, which then counts as failed. */
  readonly reason?: string;
}

/**
 * Evaluates the `@@assert` and `@@check` of a test, in source order. They can read `this` and `_.result` (the value without the
 * results of its own checks), `_.checks.label` for the checks before them, `_.latency_ms`, the arguments by name, and the
 * enums of the definitions. The first assert that does not hold ends the evaluation; a check never does.
 */
export function evaluateTest(
  constraints: readonly Constraint[],
  call: TestedCall,
  fn: FunctionType,
  definitions: DefinitionIndex,
): readonly ConditionOutcome[] {
  const result = withoutChecks(call.value).value;
  const checks = new Map<string, boolean>();
  const helper = { result, checks, latency_ms: call.latencyMs };
  const values = [...fn.parameters.map(({ name }) => ownValue(call.args, name)), result, helper];
  const outcomes: ConditionOutcome[] = [];
  let halted = false;
  for (const constraint of constraints) {
    if (halted) {
      outcomes.push({ constraint, status: 'skipped' });
      continue;
    }
    // The last of two equal names applies: a parameter does not hide the result.
    const evaluated = compileTestCondition(constraint.expression, fn, definitions)(values);
    const holds = evaluated.ok && evaluated.value;
    const reason = evaluated.ok ? {} : { reason: evaluated.failure };
    outcomes.push({ constraint, status: holds ? 'succeeded' : 'failed', ...reason });
    if (constraint.level === 'assert') halted = !holds;
    else if (constraint.label !== undefined) checks.set(constraint.label, holds);
  }
  return outcomes;
}

/** The outcome of one `@check` of a type. */
export interface ValueCheck {
  /** The path to the checked value, such as `people[2].age`; empty for the whole value. */
  readonly path: string;
  readonly name: string;
  readonly expression: string;
  readonly succeeded: boolean;
}

/** Separates the value of a call from the results of its checks. */
export function withoutChecks(value: JsonValue): { readonly value: JsonValue; readonly checks: readonly ValueCheck[] } {
  const checks: ValueCheck[] = [];
  return { value: bare(value, '', checks), checks };
}

function bare(value: JsonValue, path: string, found: ValueCheck[]): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue, index) => bare(item, `${path}[${index}]`, found));
  if (!isJsonObject(value)) return value;
  const results = checkResults(value);
  if (results !== undefined) {
    found.push(...results.map((result) => ({ path, ...result })));
    return bare(value['value'] ?? null, path, found);
  }
  const entries = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    return [key, bare(member, path === '' ? key : `${path}.${key}`, found)];
  });
  return Object.fromEntries(entries);
}

/** The results in the wrapper that svc writes around a value with checks; undefined for any other object. */
function checkResults(value: Readonly<Record<string, unknown>>): readonly Omit<ValueCheck, 'path'>[] | undefined {
  const { checks } = value;
  if (Object.keys(value).length !== 2 || !Object.hasOwn(value, 'value') || !isJsonObject(checks)) return undefined;
  const results = Object.entries(checks).map(([name, result]) => checkResult(name, result));
  const valid = results.filter((result) => result !== undefined);
  return valid.length === results.length && valid.length > 0 ? valid : undefined;
}

function checkResult(name: string, result: unknown): Omit<ValueCheck, 'path'> | undefined {
  if (!isJsonObject(result) || Object.keys(result).length !== 3 || result['name'] !== name) return undefined;
  const { expression, status } = result;
  if (typeof expression !== 'string' || (status !== 'succeeded' && status !== 'failed')) return undefined;
  return { name, expression, succeeded: status === 'succeeded' };
}
