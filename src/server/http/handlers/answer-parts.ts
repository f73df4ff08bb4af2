import { tenths } from '../../../base/tenths.ts';
import type { CallTimes } from '../../../logging/request-log.ts';
import { isLossy, lossesText, warningsOf } from '../../../runtime/call/losses.ts';
import type { AnswerPart, MetaPart } from '../../../runtime/call/call-options.ts';
import type { CallReport } from '../../../runtime/call/runtime.ts';
import type { ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Attempt } from '../../../schema/failure.ts';
import type { Losses } from '../../../schema/explanation.ts';
import { decimal } from '../../../schema/price-list.ts';
import { attemptFields } from '../problem.ts';
import type { HeaderList } from '../response-head.ts';

/** The headers that report on a call: which client answered, at what cost, where the time went, and what the value lacks. */
export function reportHeaders(report: CallReport, totalMs: number): HeaderList {
  const headers: Array<readonly [string, string]> = [];
  if (report.client !== undefined) headers.push(['x-svc-client', shortName(report.client)]);
  if (report.model !== undefined) headers.push(['x-svc-model', shortName(report.model)]);
  if (report.attempts.length > 0) headers.push(['x-svc-attempts', String(report.attempts.length)]);
  const { inputTokens, outputTokens } = report.usage;
  if (inputTokens !== undefined) headers.push(['x-svc-input-tokens', String(inputTokens)]);
  if (outputTokens !== undefined) headers.push(['x-svc-output-tokens', String(outputTokens)]);
  if (report.cost !== undefined) headers.push(['x-svc-cost', decimal(report.cost)]);
  if (isLossy(report.losses)) headers.push(lossyHeader(report.losses));
  headers.push(['server-timing', `model;dur=${report.modelMs.toFixed(1)}, total;dur=${totalMs.toFixed(1)}`]);
  return headers;
}

/** The members of `meta`: the facts about a call that its request asks for. */
const META: Readonly<Record<MetaPart, (report: CallReport, totalMs: number) => unknown>> = {
  usage: ({ usage }) => ({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_written_input_tokens: usage.cacheWrittenInputTokens,
    reasoning_tokens: usage.reasoningTokens,
    audio_input_tokens: usage.audioInputTokens,
    audio_output_tokens: usage.audioOutputTokens,
  }),
  client: ({ client, model }) => ({
    name: client === undefined ? undefined : shortName(client),
    model: model === undefined ? undefined : shortName(model),
  }),
  attempts: ({ attempts }) => attempts.map(attemptFields),
  raw: ({ rawReply }) => rawReply,
  reasoning: ({ reasoning }) => reasoning,
  prompt: ({ prompt }) => prompt,
  timing: timesOf,
};

const META_PARTS = Object.keys(META) as readonly MetaPart[];

/** Those of the parts that are members of `meta`. */
export function metaParts(include: ReadonlySet<AnswerPart>): readonly MetaPart[] {
  return META_PARTS.filter((part) => include.has(part));
}

/** Returns these facts about a call as the members of `meta`. The cost belongs to the usage. */
export function metaOf(
  parts: readonly MetaPart[],
  report: CallReport,
  totalMs: number,
): Readonly<Record<string, unknown>> {
  const meta = Object.fromEntries(parts.map((part) => [part, META[part](report, totalMs)]));
  return parts.includes('usage') ? { ...meta, cost: report.cost } : meta;
}

/** What happened during a call, for the playground: `trace` in the answer. */
export function traceOf(report: CallReport, totalMs: number): object {
  const { attempts, client, cost, finishReason, model, prompt, rawReply, usage } = report;
  return {
    client,
    model,
    attempts: attempts.map(attemptFields),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost,
    finish_reason: finishReason,
    ...timesOf(report, totalMs),
    prompt,
    reply: rawReply,
  };
}

function timesOf({ firstTextMs, modelMs }: CallReport, totalMs: number): object {
  return {
    model_ms: tenths(modelMs),
    first_text_ms: firstTextMs === undefined ? undefined : tenths(firstTextMs),
    total_ms: tenths(totalMs),
  };
}

/** The failed attempts of a call; undefined if there are none. */
export function failedAttempts(report: CallReport | undefined): readonly Attempt[] | undefined {
  const failed = report?.attempts.filter(({ outcome }) => outcome !== 'ok') ?? [];
  return failed.length === 0 ? undefined : failed;
}

/** The first attempts of a slow call, which its log line lists. */
const LISTED_ATTEMPTS = 20;

/** Where the time of a call went, for the log. `waits`: the parts before its first attempt. */
export function callTimes(
  report: CallReport | undefined,
  totalMs: number,
  waits: Pick<CallTimes, 'body' | 'queue'>,
): CallTimes {
  const { renderMs: render = 0, modelMs: model = 0, parseMs: parse = 0, attempts = [] } = report ?? {};
  const rest = Math.max(0, totalMs - waits.body - waits.queue - render - model - parse);
  const listed = attempts.slice(0, LISTED_ATTEMPTS).map(({ client, outcome, durationMs }) => {
    return { client: shortName(client), outcome, ms: tenths(durationMs) };
  });
  return {
    body: tenths(waits.body),
    queue: tenths(waits.queue),
    render: tenths(render),
    model: tenths(model),
    parse: tenths(parse),
    rest: tenths(rest),
    attempts: listed,
  };
}

/** Requests can name clients and models. Gateways accept 4 to 8 KB of headers in an answer; no model's name is this long. */
const LONGEST_NAME = 256;

/** Returns the name of a client or model, truncated if it is long. */
export function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 3)}...`;
}

/** Returns a header such as `x-svc-lossy: dropped=2, defaulted=1`. */
export function lossyHeader(losses: Losses): readonly [string, string] {
  return ['x-svc-lossy', lossesText(losses)];
}

/** Returns the members of an answer that report what a value lacks, as JSON text without braces. */
export function warningMembers(reply: ParsedReply): string {
  const { list, more } = warningsOf(reply);
  const warnings = `"warnings":${JSON.stringify(list)}`;
  return more === 0 ? warnings : `${warnings},"more_warnings":${more}`;
}
