import type { Dispatcher } from 'undici';
import type { Err } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ReplyFormat, StreamedReply } from './formats/reply-format.ts';
import type { ExchangeLimits } from './http/exchange-limits.ts';
import { HttpExchange } from './http/http-exchange.ts';
import type { ExchangeListener, HttpCall, ResponseHeaders } from './http/http-exchange.ts';
import type { HttpFault } from './http/http-fault.ts';
import { SseReader } from './http/sse-reader.ts';
import type { ModelExchange, ModelListener } from './model-client.ts';
import type { ModelFault } from './model-fault.ts';

interface ExchangeParts {
  readonly format: ReplyFormat;
  /** The provider was asked for a stream. */
  readonly streamed: boolean;
  /** The listener wants the text as it comes; what comes whole is one piece. */
  readonly tellsText: boolean;
  readonly limits: ExchangeLimits;
  readonly deadlineAt: number;
  readonly listener: ModelListener;
  readonly fault: (fault: HttpFault) => ModelFault;
}

/** One question over HTTP: feeds the body to the provider's reply format and tells the listener. */
export class HttpModelExchange implements ModelExchange, ExchangeListener {
  readonly #parts: ExchangeParts;
  #exchange: HttpExchange | undefined;
  #over = false;
  #chunks: Buffer[] = [];
  #events: SseReader | undefined;
  #reply: StreamedReply | undefined;
  #text = '';

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  start(dispatcher: Dispatcher, call: HttpCall): void {
    if (this.#over) return;
    const { limits, deadlineAt, streamed } = this.#parts;
    this.#exchange = new HttpExchange({ dispatcher, call, limits, deadlineAt, streamed }, this);
    this.#exchange.start();
  }

  /** Ends it before anything was sent. */
  refuse(result: Err<ModelFault>): void {
    if (this.#over) return;
    this.#over = true;
    this.#parts.listener.ended(result);
  }

  cancel(): void {
    this.#over = true;
    this.#exchange?.cancel();
  }

  pause(): void {
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  accepted(headers: ResponseHeaders): void {
    // Some servers ignore `stream` and answer whole: their content-type says so.
    if (!this.#parts.streamed || String(headers['content-type']).startsWith('application/json')) return;
    const reply = this.#parts.format.openStream();
    this.#reply = reply;
    this.#events = new SseReader((source, start, end) => reply.event(source, start, end));
  }

  data(chunk: Buffer): void {
    if (this.#events === undefined) {
      this.#chunks.push(chunk);
      return;
    }
    const withinBounds = this.#events.push(chunk);
    this.#tellText();
    if (!withinBounds) this.failed({ kind: 'unusable', message: 'sent an event larger than 8 MiB' });
    else if (this.#reply?.fault !== undefined) this.failed(this.#reply.fault);
    else if (this.#reply?.done === true) this.#streamEnded();
  }

  ended(): void {
    if (this.#over) return;
    if (this.#events === undefined) {
      this.#wholeEnded();
      return;
    }
    this.#events.end();
    this.#tellText();
    if (this.#reply?.fault !== undefined) this.failed(this.#reply.fault);
    else if (this.#reply?.complete === true) this.#streamEnded();
    else this.failed({ kind: 'network', message: 'its stream ended before the reply was complete' });
  }

  failed(fault: HttpFault): void {
    if (this.#over) return;
    this.#over = true;
    this.#exchange?.cancel();
    this.#parts.listener.ended(err(this.#parts.fault(fault)));
  }

  #tellText(): void {
    const piece = this.#reply?.takeText() ?? '';
    if (piece === '' || this.#over) return;
    this.#exchange?.textArrived();
    this.#text += piece;
    this.#parts.listener.text(piece);
  }

  #streamEnded(): void {
    if (this.#over) return;
    this.#over = true;
    this.#exchange?.finish();
    this.#parts.listener.ended(ok({ ...this.#reply?.details, text: this.#text }));
  }

  #wholeEnded(): void {
    const body = this.#chunks.length === 1 ? String(this.#chunks[0]) : Buffer.concat(this.#chunks).toString('utf8');
    this.#chunks = [];
    const reply = this.#parts.format.readWhole(body);
    if (!reply.ok) {
      this.failed(reply.failure);
      return;
    }
    if (this.#parts.tellsText && reply.value.text !== '') this.#parts.listener.text(reply.value.text);
    this.#over = true;
    this.#parts.listener.ended(reply);
  }
}
