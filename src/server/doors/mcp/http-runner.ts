import type { Message } from '../../../schema/message.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { HeaderList } from '../../http/response-head.ts';
import type { HttpResponse } from '../../http/transport.ts';
import { callFunction, EventPieces, FINAL_HEAD, PARTIAL_HEAD, readAnswer, type InnerCall } from '../door.ts';
import type { ToolArguments, FunctionRunner, RunOptions } from './mcp-server.ts';
import type { RunOutcome, RunProblem } from './results.ts';

/** The reader of the answer, as far as a call has to know it. */
export interface AnswerReader {
  readonly isBehind: boolean;
  /** A call has begun to stream: its first partial can take a while. */
  open(): void;
  /** Calls the listener when the reader accepts data again. */
  onWritable(listener: () => void): void;
  /** The reader is gone or stuck. */
  cut(): void;
}

/** Runs functions for the caller of one request, as `/call`, `/stream` and `/render` do. */
export class HttpRunner implements FunctionRunner {
  readonly #context: RequestContext;
  readonly #reader: AnswerReader;

  constructor(context: RequestContext, reader: AnswerReader) {
    this.#context = context;
    this.#reader = reader;
  }

  async run(functionName: string, args: ToolArguments, { signal, onPartial }: RunOptions): Promise<RunOutcome> {
    const route = onPartial === undefined ? 'call' : 'stream';
    const body = JSON.stringify(args);
    const answer = await this.#answer({ route, functionName, body }, signal, onPartial);
    return outcomeOf(answer, this.#context.requestId);
  }

  async render(
    functionName: string,
    args: ToolArguments,
    signal: AbortSignal,
  ): Promise<readonly Message[] | RunProblem> {
    const body = JSON.stringify(args);
    const answer = await this.#answer({ route: 'render', functionName, body }, signal, undefined);
    if (answer.status !== 200) return problemOf(answer);
    return (JSON.parse(answer.text) as { readonly messages: readonly Message[] }).messages;
  }

  #answer(
    call: Omit<InnerCall, 'response'>,
    signal: AbortSignal,
    onPartial: RunOptions['onPartial'],
  ): Promise<InnerAnswer> {
    return new Promise((resolve) => {
      const response = new InnerResponse(this.#reader, onPartial, resolve);
      signal.addEventListener('abort', () => response.abort(), { once: true });
      callFunction(this.#context, { ...call, response });
      if (signal.aborted) response.abort();
    });
  }
}

/** The answer to a call within the process: a body, or the last event of a stream, which has 500 if it is an error. */
interface InnerAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly text: string;
}

const NO_HEADERS: HeaderList = [];

function outcomeOf(answer: InnerAnswer, requestId: string): RunOutcome {
  if (answer.status !== 200) return problemOf(answer);
  const { value, facts } = readAnswer(answer.text);
  const { warnings, ...others } = facts;
  const hasWarnings = Array.isArray(warnings) && warnings.length > 0;
  return { json: value, facts: { request_id: requestId, ...others, ...(hasWarnings && { warnings }) } };
}

function problemOf({ headers, text }: InnerAnswer): RunProblem {
  const seconds = headers.find(([name]) => name === 'retry-after')?.[1];
  const problem = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return { problem, retryAfterSeconds: seconds === undefined ? undefined : Number(seconds) };
}

/** Receives the answer to a call in place of a client. */
class InnerResponse implements HttpResponse {
  readonly #reader: AnswerReader;
  readonly #answered: (answer: InnerAnswer) => void;
  readonly #pieces: EventPieces;
  /** The newest event, which is the last one at the end. */
  #event = '';
  #closed = false;
  #abortListener: (() => void) | undefined;

  constructor(reader: AnswerReader, onPartial: RunOptions['onPartial'], answered: (answer: InnerAnswer) => void) {
    this.#reader = reader;
    this.#answered = answered;
    this.#pieces = new EventPieces((json) => {
      this.#event = json;
      if (json.startsWith(PARTIAL_HEAD)) onPartial?.(json.slice(PARTIAL_HEAD.length, -1));
      return !reader.isBehind;
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString();
    this.#answered({ status, headers, text });
  }

  start(): void {
    this.#reader.open();
  }

  write(chunk: string): boolean {
    this.#pieces.take(chunk);
    return !this.#reader.isBehind;
  }

  end(): void {
    this.send(this.#event.startsWith(FINAL_HEAD) ? 200 : 500, NO_HEADERS, this.#event);
  }

  onDrain(listener: (empty: boolean) => void): void {
    this.#reader.onWritable(() => listener(true));
  }

  /** The stream to the client does so itself. */
  keepWaiting(): void {}

  onAborted(listener: () => void): void {
    this.#abortListener = listener;
  }

  /** The request of the client waited for that. */
  whenAlone(): boolean {
    return !this.#closed;
  }

  destroy(): void {
    this.send(CANCELLED.status, NO_HEADERS, CANCELLED.text);
    this.#reader.cut();
  }

  /** The client cancelled the call, or left: no answer is possible. */
  abort(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abortListener?.();
    this.#answered(CANCELLED);
  }
}

/** No client receives it. */
const CANCELLED: InnerAnswer = {
  status: 499,
  headers: NO_HEADERS,
  text: JSON.stringify({ error: 'cancelled', message: 'the caller left' }),
};
