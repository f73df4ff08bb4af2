import type { CallToolResult, GetPromptResult, PromptMessage } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, listAt, parseJson, stringAt } from '../../../base/json.ts';
import { mediaTypeOfContent, mediaTypeOfName } from '../../../base/media-types.ts';
import type { MediaPart, Message, MessagePart } from '../../../schema/message.ts';

/** How a call ended. */
export type RunOutcome = RunSuccess | RunProblem;

export interface RunSuccess {
  /** The value as JSON text. */
  readonly json: string;
  /** Facts about the call: `request_id`, `client`, `usage`, `cost` and `warnings`, as far as they are known. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface RunProblem {
  /** The body of an error: `error`, `message` and further members. */
  readonly problem: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number | undefined;
}

/** The members of `_meta` in results. */
const CALL_META = 'svc/call';
const ERROR_META = 'svc/error';

/** The result of a tool: its value as data and as text, or why there is none, so that the model can correct its call. */
export function toolResult(outcome: RunOutcome, wrapped: boolean): CallToolResult {
  if ('problem' in outcome) {
    const content = [{ type: 'text' as const, text: problemText(outcome) }];
    return { isError: true, content, _meta: { [ERROR_META]: outcome.problem } };
  }
  const value: unknown = JSON.parse(outcome.json);
  const text = typeof value === 'string' ? value : outcome.json;
  const structuredContent = wrapped || !isJsonObject(value) ? { result: value } : { ...value };
  return { content: [{ type: 'text', text }], structuredContent, _meta: { [CALL_META]: outcome.facts } };
}

/** One line for the code and the message, one for each fault, and when to try again. */
export function problemText({ problem, retryAfterSeconds }: RunProblem): string {
  const lines = [`${stringAt(problem, 'error') ?? 'error'}: ${stringAt(problem, 'message') ?? 'the call failed.'}`];
  for (const detail of listAt(problem, 'details') ?? []) {
    const path = stringAt(detail, 'path') ?? '';
    const message = stringAt(detail, 'message') ?? '';
    // The message of the problem quotes the first one.
    if (!lines[0]?.includes(message)) lines.push(`- ${path === '' ? '' : `${path}: `}${message}`);
  }
  if (retryAfterSeconds !== undefined) lines.push(`Try again in ${retryAfterSeconds} s.`);
  return lines.join('\n');
}

/** The arguments of a prompt are strings: those of other types are JSON text, or else stay as they are, for the error. */
export function argumentOfPrompt(text: string, isText: boolean): unknown {
  if (isText) return text;
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/** The protocol has no role `system`: such messages come from the user. Each part is a message of its own. */
export function promptResult(messages: readonly Message[], description: string | undefined): GetPromptResult {
  const converted = messages.flatMap(({ role, parts }) =>
    parts.map((part): PromptMessage => ({
      role: role === 'assistant' || role === 'model' ? 'assistant' : 'user',
      content: contentOf(part),
    })),
  );
  return { messages: converted, ...(description !== undefined && { description }) };
}

function contentOf(part: MessagePart): PromptMessage['content'] {
  return part.kind === 'text' ? { type: 'text', text: part.text } : mediaContent(part);
}

function mediaContent({ media, source }: MediaPart): PromptMessage['content'] {
  if (source.kind === 'url') {
    const mimeType = source.mediaType ?? mediaTypeOfName(source.url);
    return { type: 'resource_link', uri: source.url, name: media, ...(mimeType !== undefined && { mimeType }) };
  }
  const { data } = source;
  const mimeType = source.mediaType ?? mediaTypeOfContent(Buffer.from(data.slice(0, 64), 'base64')) ?? DEFAULTS[media];
  if (media === 'image' || media === 'audio') return { type: media, data, mimeType };
  return { type: 'resource', resource: { uri: `svc:${media}`, blob: data, mimeType } };
}

/** The type of content that does not show its own. */
const DEFAULTS = { image: 'image/png', audio: 'audio/wav', pdf: 'application/pdf', video: 'video/mp4' } as const;
