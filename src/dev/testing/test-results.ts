import type { JsonValue } from '../../base/json.ts';
import type { ConditionOutcome, ValueCheck } from '../../runtime/call/test-conditions.ts';
import type { Message, MessagePart } from '../../schema/message.ts';
import type { RunFailure } from '../local-runtime.ts';
import type { SelectedTest } from './select-tests.ts';
import { visible } from '../../diagnostics/report-formats.ts';
import { decimal } from '../../schema/price-list.ts';

/** One call of a function by a test, and what became of it. */
export interface TestRun {
  /** `error`: there is no value, for a reason other than the reply. */
  readonly status: 'passed' | 'failed' | 'error';
  readonly durationMs: number;
  /** Milliseconds of waiting for models. */
  readonly latencyMs?: number;
  /** As a call returns it. */
  readonly value?: JsonValue;
  readonly conditions: readonly ConditionOutcome[];
  /** The checks of types that the value fails. They fail no test. */
  readonly failedChecks: readonly ValueCheck[];
  readonly failure?: RunFailure;
  readonly prompt?: readonly Message[];
  readonly reply?: string;
  /** The client that answered, and its model. */
  readonly client?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars. Absent if a price or a count is unknown, and for recorded replies. */
  readonly cost?: number;
}

/** One test of one function with one client, repeated as often as the user asks. */
export interface TestResult extends SelectedTest {
  /** The client that the user selected, or the function's own. */
  readonly client: string;
  /** `not run`: the user interrupted the tests before all repetitions had ended. */
  readonly status: 'passed' | 'failed' | 'not run';
  readonly runs: readonly TestRun[];
}

/** `ExtractResume::Short`, as the option `--include` takes it. */
export function fullName({ functionName, test }: SelectedTest): string {
  return `${functionName}::${test.name}`;
}

export function passedRuns({ runs }: Pick<TestResult, 'runs'>): number {
  return runs.filter(({ status }) => status === 'passed').length;
}

interface RunsWith<Fact extends keyof TestRun> {
  readonly runs: readonly Pick<TestRun, Fact>[];
}

/** The mean latency of the runs that have one; undefined if none has. */
export function meanLatency({ runs }: RunsWith<'latencyMs'>): number | undefined {
  const known = runs.flatMap(({ latencyMs }) => latencyMs ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, ms) => sum + ms, 0) / known.length;
}

/** US dollars for all runs whose cost is known; undefined if none is. */
export function knownCost(results: readonly RunsWith<'cost'>[]): number | undefined {
  const known = results.flatMap(({ runs }) => runs.flatMap(({ cost }) => cost ?? []));
  return known.length === 0 ? undefined : Math.round(known.reduce((sum, cost) => sum + cost, 0) * 1e9) / 1e9;
}

export interface TestReport {
  readonly results: readonly TestResult[];
  readonly durationMs: number;
  readonly interrupted: boolean;
  /** The functions without a test, by name. */
  readonly untested: readonly string[];
  readonly functions: number;
}

/** US dollars: `$0.00021`. */
export function dollars(cost: number): string {
  return `$${decimal(cost)}`;
}

/** Why a call has no value: the message, and the details that it does not contain. */
export function failureLines({ message, details = [] }: RunFailure): readonly string[] {
  const others = details.filter((detail) => !message.endsWith(detail.message));
  return [message, ...others.map(({ path, message: why }) => `- ${path === '' ? '' : `${path}: `}${why}`)];
}

/** `@@assert(label) does not hold: this > 0` */
export function conditionText({ constraint: { level, label, source }, reason }: ConditionOutcome): string {
  const name = `@@${level}${label === undefined ? '' : `(${label})`}`;
  return `${name} ${reason === undefined ? 'does not hold' : `cannot be evaluated (${reason})`}: ${source}`;
}

/** A prompt as lines: each message begins with its role, and media is described. */
export function promptLines(prompt: readonly Message[]): readonly string[] {
  return prompt.flatMap(({ role, parts }, index) => [
    ...(index === 0 ? [] : ['']),
    `[${visible(role)}]`,
    ...parts.flatMap((part) => textLines(partText(part))),
  ]);
}

function partText(part: MessagePart): string {
  if (part.kind === 'text') return part.text;
  const { media, source } = part;
  const type = source.mediaType === undefined ? '' : `, ${source.mediaType}`;
  if (source.kind === 'url') return `<${media} ${source.url}${type}>`;
  return `<${media}${type}, ${Buffer.byteLength(source.data, 'base64')} bytes>`;
}

/** Text of a model or of a file, safe to print. */
export function textLines(text: string): readonly string[] {
  return text.split(/\r?\n/u).map(visible);
}
