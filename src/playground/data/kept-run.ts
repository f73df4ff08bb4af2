import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { KeptCall } from '../../schema/kept-call.ts';
import type { Message } from '../../schema/message.ts';
import type { Violation } from '../../schema/violation.ts';
import type { ErrorBody, Trace } from '../server/wire.ts';
import { OWN_CLIENT, type Run } from './run.ts';

/** A kept call in the form of a run of this page, so that the same views show it. */
export function runOfCall(call: KeptCall): Run {
  const { at, content, error, functionName, ms, route, seq } = call;
  const problem = problemOf(call);
  return {
    id: seq,
    startedAt: new Date(at - ms),
    functionName,
    args: argumentsOf(call) ?? {},
    mode: route,
    choice: OWN_CLIENT,
    client: call.client ?? 'none',
    state: error === null ? 'done' : 'failed',
    ...(content?.value !== undefined && { value: content.value }),
    partials: 0,
    resets: 0,
    reply: content?.reply ?? '',
    ...(problem !== undefined && { problem }),
    trace: traceOf(call),
    elapsedMs: ms,
  };
}

/** Undefined if they were not kept. */
export function argumentsOf({ content }: KeptCall): JsonObject | undefined {
  return isJsonObject(content?.args) ? content.args : undefined;
}

function problemOf({ content, error, requestId, status }: KeptCall): ErrorBody | undefined {
  if (error === null) return undefined;
  const details = Array.isArray(content?.details) ? (content.details as readonly unknown[]).filter(isViolation) : [];
  return {
    error,
    message: content?.message ?? `The call failed with status ${status}.`,
    request_id: requestId,
    details,
  };
}

function isViolation(value: unknown): value is Violation {
  return isJsonObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';
}

function traceOf(call: KeptCall): Trace {
  const { client, content, cost, firstTextMs, inputTokens, model, modelMs, ms, outputTokens } = call;
  return {
    ...(client !== null && { client }),
    ...(model !== null && { model }),
    attempts: content?.attempts ?? [],
    ...(inputTokens !== null && { input_tokens: inputTokens }),
    ...(outputTokens !== null && { output_tokens: outputTokens }),
    ...(cost !== null && { cost }),
    ...(content?.finishReason !== undefined && { finish_reason: content.finishReason }),
    model_ms: modelMs,
    ...(firstTextMs !== null && { first_text_ms: firstTextMs }),
    total_ms: ms,
  };
}

/** The messages of a prompt; undefined if it was not kept. */
export function messagesOf({ content }: KeptCall): readonly Message[] | undefined {
  const prompt: unknown = content?.prompt;
  return Array.isArray(prompt) && prompt.every(isMessage) ? prompt : undefined;
}

function isMessage(value: unknown): value is Message {
  return isJsonObject(value) && typeof value['role'] === 'string' && Array.isArray(value['parts']);
}

/** The texts of a call that a comparison shows; empty if they were not kept. */
export function textsOfCall(call: KeptCall): ReadonlyMap<string, string> {
  const { content, error } = call;
  const failure = error === null ? '' : [error, content?.message ?? ''].join('\n');
  return new Map([
    ['Arguments', jsonText(content?.args)],
    ['Prompt', (messagesOf(call) ?? []).map(messageText).join('\n\n')],
    ['Reply of the model', content?.reply ?? ''],
    ['Value or failure', content?.value === undefined ? failure : jsonText(content.value)],
  ]);
}

function jsonText(value: JsonValue | undefined): string {
  return value === undefined ? '' : JSON.stringify(value, undefined, 2);
}

function messageText({ role, parts }: Message): string {
  const texts = parts.map((part) => (part.kind === 'text' ? part.text : `(${part.media})`));
  return [`${role}:`, ...texts].join('\n');
}
