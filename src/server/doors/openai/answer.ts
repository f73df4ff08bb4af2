import { isJsonObject, listAt, ownValue, parseJson, stringAt } from '../../../base/json.ts';
import { CUT_REASONS } from '../../../schema/providers/replies.ts';
import { withoutLineEnds, COMMENT } from '../../http/event-stream.ts';
import type { HeaderList } from '../../http/response-head.ts';
import type { HttpResponse } from '../../http/transport.ts';
import { EventPieces, FINAL_HEAD, PARTIAL_HEAD, PassedResponse, readAnswer } from '../door.ts';
import { contentOf, SettledText } from './settled-text.ts';

type Members = Readonly<Record<string, unknown>>;

/** An error in OpenAI's shape. */
export interface OpenAiError {
  readonly message: string;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  readonly param: string | null;
  readonly code: string;
  /** The other fields of an error of svc. */
  readonly svc?: Members;
}

/** The codes that clients of OpenAI know by another name. All others stay. */
const CODES: Readonly<Record<string, string>> = {
  Unauthorized: 'invalid_api_key',
  function_not_found: 'model_not_found',
};

function errorOf(status: number, body: unknown): OpenAiError {
  const { error, message, param, ...svc } = isJsonObject(body) ? body : {};
  const code = typeof error === 'string' ? error : 'internal_error';
  const path = stringAt(listAt(body, 'details')?.[0], 'path');
  let type: OpenAiError['type'] = 'invalid_request_error';
  if (status === 429) type = 'rate_limit_error';
  else if (status >= 500) type = 'server_error';
  return {
    message: typeof message === 'string' ? message : '',
    type,
    param: typeof param === 'string' ? param : (path ?? null),
    code: ownValue(CODES, code) ?? code,
    svc,
  };
}

/** The failures with a status of 500 or more that a client can repeat. Svc has repeated the others, as the retry policy states. */
const REPEATABLE: ReadonlySet<string> = new Set(['overloaded', 'draining']);

/** A response whose errors have OpenAI's shape. */
export class OpenAiResponse extends PassedResponse {
  override send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (status < 400 || typeof body !== 'string') {
      super.send(status, headers, body);
      return;
    }
    const error = errorOf(status, parseJson(body));
    const isUnauthorized = error.code === 'invalid_api_key';
    const more: Array<HeaderList[number]> = isUnauthorized ? [['www-authenticate', 'Bearer']] : [];
    // OpenAI's packages obey it; otherwise, they repeat each request that fails with 500 or more.
    if (status >= 500 && !REPEATABLE.has(error.code)) more.push(['x-should-retry', 'false']);
    super.send(isUnauthorized ? 401 : status, [...headers, ...more], JSON.stringify({ error }));
  }
}

/** A complete answer. */
export interface ModelAnswer {
  readonly content: string;
  /** The provider cut the reply off. */
  readonly isCut: boolean;
  /** The counts of tokens, as in `meta`. */
  readonly usage: Members;
  /** The member `svc`. */
  readonly svc: Members;
}

/** The forms of an answer at one endpoint. Events are complete texts. */
export interface ModelFormat {
  /** The body of an answer that is not streamed. */
  body(answer: ModelAnswer): string;
  /** The first events. */
  opened(): string;
  delta(text: string): string;
  /** The last events. `rest`: the text that follows the deltas. */
  ended(answer: ModelAnswer, rest: string): string;
  failed(error: OpenAiError): string;
}

/** An event with this data. */
export function dataLine(value: object): string {
  return `data: ${withoutLineEnds(JSON.stringify(value))}\n\n`;
}

/** The deltas that a client has received do not agree with the value. */
const CHANGED: OpenAiError = {
  message:
    'The value changed after a part of it was sent: an attempt failed midway, or the reply was read in another way. Forget the text, and repeat the request, if possible without "stream".',
  type: 'server_error',
  param: null,
  code: 'answer_changed',
};

/** Translates the answer of `/call` or the events of `/stream`. */
export class TranslatedAnswer extends OpenAiResponse {
  readonly #format: ModelFormat;
  readonly #more: HeaderList;
  readonly #text: SettledText | undefined;
  readonly #pieces = new EventPieces((json) => this.#event(json));
  #writable = true;

  /** `flows`: partial values can be sent. `more`: further headers. */
  constructor(outer: HttpResponse, format: ModelFormat, { flows, more }: { flows: boolean; more: HeaderList }) {
    super(outer);
    this.#format = format;
    this.#more = more;
    this.#text = flows ? new SettledText() : undefined;
  }

  override send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    const own = this.#more.length === 0 ? headers : [...headers, ...this.#more];
    if (status !== 200 || typeof body !== 'string') super.send(status, own, body);
    else super.send(200, own, this.#format.body(answerOf(body)));
  }

  override start(status: number, headers: HeaderList, filler: string): void {
    this.outer.start(status, [...headers, ...this.#more], filler);
    this.#write(this.#format.opened());
  }

  override write(chunk: string): boolean {
    if (chunk === COMMENT) return this.#write(chunk);
    return this.#pieces.take(chunk) ?? this.#writable;
  }

  override onDrain(listener: (empty: boolean) => void): void {
    this.outer.onDrain((empty) => {
      if (empty) this.#writable = true;
      listener(empty);
    });
  }

  #event(json: string): boolean {
    if (json.startsWith(PARTIAL_HEAD)) {
      const delta = this.#text?.partial(json.slice(PARTIAL_HEAD.length, -1)) ?? '';
      return delta === '' ? this.#writable : this.#write(this.#format.delta(delta));
    }
    if (json.startsWith(FINAL_HEAD)) return this.#write(this.#last(json));
    const event = parseJson(json);
    if (isJsonObject(event) && 'error' in event) return this.#write(this.#format.failed(errorOf(500, event)));
    if (isJsonObject(event) && 'reset' in event) this.#text?.reset();
    return this.#writable;
  }

  #last(json: string): string {
    const answer = answerOf(json);
    const rest = this.#text === undefined ? answer.content : this.#text.final(answer.content);
    return rest === undefined ? this.#format.failed(CHANGED) : this.#format.ended(answer, rest);
  }

  #write(text: string): boolean {
    this.#writable = this.outer.write(text);
    return this.#writable;
  }
}

/** The body of a call, or the last event of a stream, as the answer of a model. */
function answerOf(json: string): ModelAnswer {
  const { value, facts } = readAnswer(json);
  const { usage, client, cost, warnings, ...more } = facts;
  const { name, model, finish_reason: reason } = isJsonObject(client) ? client : {};
  return {
    content: contentOf(value),
    isCut: typeof reason === 'string' && CUT_REASONS.has(reason.toLowerCase()),
    usage: isJsonObject(usage) ? usage : {},
    svc: { client: name, model, cost, warnings, ...more },
  };
}
