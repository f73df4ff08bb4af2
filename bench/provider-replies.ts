import { awsEvent } from '../test/support/aws-event-frame.ts';

/** An answer in the format of a provider: whole, and as a stream of deltas. */
export interface ProviderReplies {
  readonly whole: string;
  readonly streamed: Buffer;
  readonly streamType: string;
}

/** The wire format of a provider. */
export type Protocol = 'chat' | 'responses' | 'anthropic' | 'google' | 'bedrock';

type Make = (text: string, deltas: readonly string[]) => { readonly whole: object; readonly streamed: Buffer };

const SSE = 'text/event-stream';

/** The answer with this text in one wire format; each delta has `deltaLength` characters. */
export function providerReplies(protocol: Protocol, text: string, deltaLength: number): ProviderReplies {
  const deltas: string[] = [];
  for (let at = 0; at < text.length; at += deltaLength) deltas.push(text.slice(at, at + deltaLength));
  const { whole, streamed } = MAKERS[protocol](text, deltas);
  const streamType = protocol === 'bedrock' ? 'application/vnd.amazon.eventstream' : SSE;
  return { whole: JSON.stringify(whole), streamed, streamType };
}

const MAKERS: Readonly<Record<Protocol, Make>> = { chat, responses, anthropic, google, bedrock };

function chat(text: string, deltas: readonly string[]): ReturnType<Make> {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' };
  const chunk = (delta: object, finish: string | null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
  const events = [
    chunk({ role: 'assistant', content: '' }, null),
    ...deltas.map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    { ...head, choices: [], usage },
  ];
  const message = { role: 'assistant', content: text };
  const whole = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  return { whole, streamed: Buffer.concat([sse(events), Buffer.from('data: [DONE]\n\n')]) };
}

function responses(text: string, deltas: readonly string[]): ReturnType<Make> {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const whole = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: 'm',
    output: [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }],
    usage: {
      input_tokens: 60,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 100,
    },
  };
  const events = deltas.map((delta, sequence_number) => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta,
    sequence_number,
  }));
  return {
    whole,
    streamed: sse([...events, { type: 'response.completed', sequence_number: deltas.length, response: whole }]),
  };
}

function anthropic(text: string, deltas: readonly string[]): ReturnType<Make> {
  const usage = { input_tokens: 60, output_tokens: 40 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage };
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...deltas.map((delta) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: delta },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } },
    { type: 'message_stop' },
  ];
  const whole = { ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' };
  return { whole, streamed: sse(events) };
}

/** Gemini sends its token counts with every delta. */
function google(text: string, deltas: readonly string[]): ReturnType<Make> {
  const last = { finishReason: 'STOP' };
  const events = deltas.map((delta, index) => candidate(delta, index + 1, index === deltas.length - 1 ? last : {}));
  return { whole: candidate(text, 40, last), streamed: sse(events) };
}

function candidate(text: string, count: number, more: object): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 60, candidatesTokenCount: count, totalTokenCount: 60 + count },
    modelVersion: 'm',
  };
}

/** Bedrock pads its events, so that their lengths reveal nothing. */
function bedrock(text: string, deltas: readonly string[]): ReturnType<Make> {
  const usage = { inputTokens: 60, outputTokens: 40, totalTokens: 100 };
  const whole = { output: { message: { role: 'assistant', content: [{ text }] } }, stopReason: 'end_turn', usage };
  const frames = [
    awsEvent('messageStart', { role: 'assistant' }),
    ...deltas.map((delta, index) => {
      const p = 'abcdefghijklmnopqrstuvwxyzABCDEFGH'.slice(0, 1 + ((index * 7) % 33));
      return awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: delta }, p });
    }),
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    awsEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
  ];
  return { whole, streamed: Buffer.concat(frames) };
}

function sse(events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}
