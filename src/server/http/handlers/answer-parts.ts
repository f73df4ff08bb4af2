import { tenths } from '../../../base/amounts.ts';
import { Redactor } from '../../../logging/redactor.ts';
import type { CallTimes, KeptAnswerFields } from '../../../logging/request-log.ts';
import { requestSecrets, type RequestSecrets } from '../../../logging/request-secrets.ts';
import { isLossy, lossesText, warningsOf } from '../../../runtime/call/losses.ts';
import type { AnswerPart, MetaPart } from '../../../runtime/call/call-options.ts';
import type { CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import { MADE_UP, type ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Attempt } from '../../../schema/failure.ts';
import type { Losses } from '../../../schema/explanation.ts';
import { decimal } from '../../../schema/price-list.ts';
import type { FunctionRoute } from '../../metrics/process-metrics.ts';
import { attemptFields, type Problem } from '../problem.ts';
import type { JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import type { HeaderList } from '../response-head.ts';
import type { Usage } from '../../../policy/limiter.ts';

/** The header of a value that an offline client made up. A stream sends it before the value is known. */
export const MADE_UP_HEADER: HeaderList[number] = ['x-svc-made-up', 'true'];

/** The headers that describe a value, whichever request receives it: which client answered, and what the value lacks. */
export function valueHeaders(report: CallReport): Array<HeaderList[number]> {
  const headers: Array<HeaderList[number]> = [];
  if (report.client !== undefined) headers.push(['x-svc-client', shortName(report.client)]);
  if (report.model !== undefined) headers.push(['x-svc-model', shortName(report.model)]);
  if (isLossy(report.losses)) headers.push(lossyHeader(report.losses));
  if (report.flags[0]?.flag === MADE_UP) headers.push(MADE_UP_HEADER);
  return headers;
}

/** The headers that report on a call: those of its value, what it cost, and where the time went. */
export function reportHeaders(report: CallReport, totalMs: number): HeaderList {
  const headers = valueHeaders(report);
  if (report.attempts.length > 0) headers.push(['x-svc-attempts', String(report.attempts.length)]);
  const { inputTokens, outputTokens } = report.usage;
  if (inputTokens !== undefined) headers.push(['x-svc-input-tokens', String(inputTokens)]);
  if (outputTokens !== undefined) headers.push(['x-svc-output-tokens', String(outputTokens)]);
  if (report.cost !== undefined) headers.push(['x-svc-cost', decimal(report.cost)]);
  headers.push(['server-timing', `model;dur=${report.modelMs.toFixed(1)}, total;dur=${totalMs.toFixed(1)}`]);
  return headers;
}

/** The header of an answer for which no model was asked. */
export function timing(totalMs: number): readonly [string, string] {
  return ['server-timing', `total;dur=${totalMs.toFixed(1)}`];
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
  client: ({ client, model, finishReason }) => ({
    name: client === undefined ? undefined : shortName(client),
    model: model === undefined ? undefined : shortName(model),
    finish_reason: finishReason === undefined ? undefined : shortName(finishReason),
  }),
  attempts: ({ attempts }) => attempts.map(attemptFields),
  raw: ({ rawReply }) => rawReply,
  reasoning: ({ reasoning }) => reasoning,
  prompt: ({ prompt }) => prompt,
  timing: timesOf,
};

const META_PARTS = Object.keys(META) as readonly MetaPart[];

/** Those of the parts that are members of `meta`. */
function metaParts(include: ReadonlySet<AnswerPart>): readonly MetaPart[] {
  return META_PARTS.filter((part) => include.has(part));
}

/** Returns these facts about a call as the members of `meta`. The cost belongs to the usage. */
export function metaOf(
  parts: readonly MetaPart[],
  report: CallReport,
  totalMs: number,
): Readonly<Record<string, unknown>> {
  const meta: Record<string, unknown> = {};
  for (const part of parts) meta[part] = META[part](report, totalMs);
  if (parts.includes('usage')) meta['cost'] = report.cost;
  return meta;
}

/** The parts of an answer beside its value, as JSON text: each is empty if the request does not ask for it. */
export interface AnswerTexts {
  /** The object `meta`. */
  readonly meta: string;
  /** The members that report what the value lacks, without braces. */
  readonly warnings: string;
  /** The member `trace`, after a comma. */
  readonly trace: string;
}

/** The body of a call: the bare value if the request asks for no parts. The playground asks for the trace alone. */
export function callBody(json: string, texts: AnswerTexts | undefined): string {
  if (texts === undefined) return json;
  const { meta, warnings, trace } = texts;
  if (meta === '' && warnings === '') return `{"value":${json}${trace}}`;
  const members = [meta.slice(1, -1), warnings].filter((each) => each !== '').join();
  return `{"result":${json},"meta":{${members}}${trace}}`;
}

/** The last message of a stream. */
export function lastMessage(json: string, texts: AnswerTexts | undefined): string {
  if (texts === undefined) return `{"final_result":${json}}`;
  const warnings = texts.warnings === '' ? '' : `,${texts.warnings}`;
  const meta = texts.meta === '' ? '' : `,"meta":${texts.meta}`;
  return `{"final_result":${json}${warnings}${meta}${texts.trace}}`;
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
function failedAttempts(report: CallReport | undefined): readonly Attempt[] | undefined {
  const failed = report?.attempts.filter(({ outcome }) => outcome !== 'ok') ?? [];
  return failed.length === 0 ? undefined : failed;
}

/** The first attempts of a slow call, which its log line lists. */
const LISTED_ATTEMPTS = 20;

/** Where the time of a call went, for the log. `waits`: the parts before its first attempt. */
function callTimes(
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

/** Returns the name of a client or model, truncated if it is long: then no function has this name. */
export function shortName(name: string, longest = LONGEST_NAME): string {
  return name.length <= longest ? name : `${name.slice(0, longest - 3)}...`;
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

/** Removes the credentials of the server, and those that a request brought in its body, from what svc answers. */
export class RequestMask {
  readonly #context: RequestContext;
  readonly #functionName: string;
  readonly #body: JsonBody | undefined;
  #secrets: RequestSecrets | undefined;

  constructor(context: RequestContext, functionName: string, body: JsonBody | undefined) {
    this.#context = context;
    this.#functionName = functionName;
    this.#body = body;
  }

  /** The credentials in the body, once an answer or a span needs them. */
  get secrets(): RequestSecrets | undefined {
    return this.#secrets;
  }

  /** Returns a function that masks what the request brought, in the texts of its trace. */
  text(): (text: string) => string {
    const { values, tooMany } = this.own;
    if (tooMany !== undefined) return () => `[not recorded: the request contains ${tooMany} credentials]`;
    const redactor = new Redactor(values);
    return (text) => redactor.redactValues(text);
  }

  /** The parts of the answer that the request asks for. */
  textsOf(include: ReadonlySet<AnswerPart>, reply: ParsedReply, report: CallReport): AnswerTexts {
    const parts = metaParts(include);
    return {
      meta: parts.length === 0 ? '' : this.#meta(parts, report),
      warnings: include.has('warnings') ? warningMembers(reply) : '',
      trace: include.has('trace') ? this.#traceMember(report) : '',
    };
  }

  /** Facts as JSON text. Undefined if the request has so many credentials that svc cannot mask them. */
  facts(facts: object): string | undefined {
    return this.json(JSON.stringify(facts));
  }

  /** Masks JSON text. Undefined as above. */
  json(text: string): string | undefined {
    const { tooMany, values } = this.own;
    if (tooMany !== undefined) return undefined;
    const json = this.#context.services.redactor.redactValues(text);
    return values.length === 0 ? json : new Redactor(values).redactValues(json);
  }

  /** Masks what the request itself brought as a secret. The redactor of the server masks the rest. */
  problem(of: Problem): Problem {
    this.#secrets = this.#find(of.status === 400);
    const { values } = this.#secrets;
    if (values.length === 0) return of;
    const clean = new Redactor(values).redactValues(JSON.stringify({ message: of.message, fields: of.fields }));
    return { ...of, ...(JSON.parse(clean) as Pick<Problem, 'message' | 'fields'>) };
  }

  /** The credentials in the body. */
  get own(): RequestSecrets {
    this.#secrets ??= this.#find(false);
    return this.#secrets;
  }

  #find(refused: boolean): RequestSecrets {
    const parameters = this.#context.services.runtime.parameters(this.#functionName);
    return requestSecrets({ value: this.#body?.value, text: this.#body?.text, parameters, refused });
  }

  #traceMember(report: CallReport): string {
    const trace = this.facts(traceOf(report, this.#context.elapsedMs));
    return trace === undefined ? '' : `,"trace":${trace}`;
  }

  #meta(parts: readonly MetaPart[], report: CallReport): string {
    const meta = metaOf(parts, report, this.#context.elapsedMs);
    const masked = this.facts(meta);
    if (masked !== undefined) return masked;
    return JSON.stringify({ ...meta, attempts: undefined, raw: undefined, reasoning: undefined, prompt: undefined });
  }
}

/** The end of a request, for counters and log. */
export interface RequestEnd {
  readonly status: number;
  readonly report?: CallReport | undefined;
  readonly problem?: Problem | undefined;
  readonly responseText?: string | undefined;
  readonly partials?: number | undefined;
}

/** A request of a function that has ended. Durations are in milliseconds. */
export interface EndedRequest {
  readonly end: RequestEnd;
  readonly functionName: string;
  readonly route: FunctionRoute;
  readonly durationMs: number;
  /** The times until the body was complete, and in the queue. */
  readonly waits: { readonly body: number; readonly queue: number };
  /** Absent if the request did not get so far. */
  readonly body: JsonBody | undefined;
  readonly secrets: RequestSecrets | undefined;
  readonly tags: PreparedCall['tags'] | undefined;
  /** Absent if the request asks for no kept answer. */
  readonly kept: KeptAnswerFields | undefined;
}

/** Writes the log line of a request, if its level and the share of logged requests ask for it. */
export function logRequest(context: RequestContext, ended: EndedRequest): void {
  const { request, requestId, services } = context;
  const { end, durationMs, waits, body, secrets, tags, kept, functionName } = ended;
  const { report, problem, status } = end;
  const { requestLog } = services;
  const level = requestLog.levelOf(status, durationMs);
  if (level === undefined) return;
  requestLog.write(level, {
    requestId,
    trace: context.trace?.logFields,
    method: request.method,
    path: request.path,
    status,
    ms: durationMs,
    functionName,
    keyName: context.keyName,
    tags,
    kept,
    client: report?.client === undefined ? undefined : shortName(report.client),
    model: report?.model === undefined ? undefined : shortName(report.model),
    attempts: report?.attempts.length,
    inputTokens: report?.usage.inputTokens,
    outputTokens: report?.usage.outputTokens,
    cost: report?.cost,
    modelMs: report?.modelMs,
    firstTextMs: report?.firstTextMs,
    times: requestLog.isSlow(durationMs) ? callTimes(report, durationMs, waits) : undefined,
    finishReason: report?.finishReason,
    flags: report?.flags,
    losses: report?.losses,
    partials: end.partials,
    error:
      problem === undefined
        ? undefined
        : { code: problem.code, message: problem.message, details: problem.fields['details'] },
    requestText: body?.text,
    requestBody: body?.value,
    parameters: services.runtime.parameters(functionName),
    secrets,
    responseText: end.responseText,
    prompt: report?.prompt,
    rawReply: report?.rawReply,
    failedAttempts: failedAttempts(report),
  });
}

/** Returns the usage of a call that ended, or undefined if it called no model. A number that no one knows is undefined. */
export function usageOf({ attempts, cost, estimatedTokens, usage }: CallReport): Usage | undefined {
  if (attempts.length === 0) return undefined;
  const { inputTokens, outputTokens } = usage;
  const isKnown = [inputTokens, outputTokens, estimatedTokens].some((count) => count !== undefined);
  const tokens = isKnown ? (inputTokens ?? 0) + (outputTokens ?? 0) + (estimatedTokens ?? 0) : undefined;
  return { tokens, cost, isEstimate: estimatedTokens !== undefined };
}
