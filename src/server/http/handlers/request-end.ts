import type { KeptAnswerFields } from '../../../logging/request-log.ts';
import type { RequestSecrets } from '../../../logging/request-secrets.ts';
import type { Usage } from '../../../policy/limiter.ts';
import type { CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { Problem } from '../problem.ts';
import type { JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import { callTimes, failedAttempts, shortName } from './answer-parts.ts';

/** The end of a request, for counters and log. */
export interface RequestEnd {
  readonly status: number;
  readonly report?: CallReport | undefined;
  readonly problem?: Problem | undefined;
  readonly responseText?: string | undefined;
  readonly partials?: number | undefined;
}

/** A request of a function that has ended. Durations are in milliseconds. */
interface EndedRequest {
  readonly end: RequestEnd;
  readonly functionName: string;
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
    secrets,
    responseText: end.responseText,
    prompt: report?.prompt,
    rawReply: report?.rawReply,
    failedAttempts: failedAttempts(report),
  });
}

/** Returns the usage of a call that ended, or undefined if it called no model. A number that the provider did not report is undefined. */
export function usageOf(report: CallReport | undefined): Usage | undefined {
  // The caller left while the call ran.
  if (report === undefined) return { tokens: undefined, cost: undefined };
  const { attempts, cost, usage } = report;
  if (attempts.length === 0) return undefined;
  const { inputTokens, outputTokens } = usage;
  const tokens =
    inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
  return { tokens, cost };
}
