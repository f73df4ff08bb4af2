import { stringify } from 'csv-stringify/sync';
import type { JsonValue } from '../../base/json.ts';
import { rightValue, type KeptCall } from '../../schema/kept-call.ts';
import type { Message } from '../../schema/message.ts';

/** `jsonl`: every fact, one object a line. `chat`: conversations to fine-tune a model with. `csv`: a table. */
export const EXPORT_FORMATS = ['jsonl', 'chat', 'csv'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The first text of a file in this format. */
export function exportHead(format: ExportFormat): string {
  return format === 'csv' ? stringify([Object.keys(COLUMNS)]) : '';
}

/** Returns the text for a call; undefined if it cannot be in a file of this format, because it has no value or no prompt. */
export function exportedCall(call: KeptCall, format: ExportFormat): string | undefined {
  if (format === 'csv') return stringify([Object.values(COLUMNS).map((of) => cell(of(call)))]);
  if (format === 'jsonl') return `${JSON.stringify(callRecord(call))}\n`;
  const chat = conversation(call);
  return chat === undefined ? undefined : `${JSON.stringify(chat)}\n`;
}

type Column = (call: KeptCall) => JsonValue | undefined;

/** The members of a line, and the columns of a table. */
const COLUMNS: Readonly<Record<string, Column>> = {
  id: ({ requestId }) => requestId,
  time: ({ at }) => new Date(at).toISOString(),
  function: ({ functionName }) => functionName,
  route: ({ route }) => route,
  program: ({ program }) => program,
  key: ({ key }) => key,
  status: ({ status }) => status,
  error: ({ error }) => error,
  message: ({ content }) => content?.message,
  lossy: ({ lossy }) => lossy,
  cache: ({ cache }) => cache,
  client: ({ client }) => client,
  model: ({ model }) => model,
  attempts: ({ attempts }) => attempts,
  ms: ({ ms }) => ms,
  model_ms: ({ modelMs }) => modelMs,
  first_text_ms: ({ firstTextMs }) => firstTextMs,
  input_tokens: ({ inputTokens }) => inputTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  cost: ({ cost }) => cost,
  tags: ({ tags }) => tags,
  args: ({ content }) => content?.args,
  value: ({ content }) => content?.value,
  reply: ({ content }) => content?.reply,
  finish_reason: ({ content }) => content?.finishReason,
  score: ({ score }) => score,
  label: ({ label }) => label,
  comment: ({ feedback }) => feedback.findLast(({ comment }) => comment !== null)?.comment,
  expected: rightValue,
};

/** Every known fact about a call: a line of `jsonl`. */
export function callRecord(call: KeptCall): Readonly<Record<string, unknown>> {
  const { prompt, attempts: requests, flags, details, withheld } = call.content ?? {};
  const facts = Object.entries(COLUMNS).map(([name, of]) => [name, of(call)] as const);
  const known = facts.filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(known), prompt, requests, flags, details, withheld };
}

/** A spreadsheet would run a text that begins like a formula. */
function cell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
}

/** The prompt and the reply. A value that feedback calls right takes the place of the reply. */
function conversation(call: KeptCall): object | undefined {
  const { error, content } = call;
  const right = rightValue(call);
  if (content === null || !Array.isArray(content.prompt) || (error !== null && right === undefined)) return undefined;
  const messages = (content.prompt as unknown as readonly Message[]).map(chatMessage);
  const answer = right === undefined ? content.reply : typeof right === 'string' ? right : JSON.stringify(right);
  if (answer === undefined || messages.includes(undefined)) return undefined;
  return { messages: [...messages, { role: 'assistant', content: answer }] };
}

/** Undefined if the message has a file: its data are not kept. */
function chatMessage({ role, parts }: Message): object | undefined {
  const texts = parts.map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : { role, content: texts.join('') };
}
