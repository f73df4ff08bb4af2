import { isJsonObject, parseJson } from '../../../base/json.ts';
import type { UpstreamFailure } from '../http/origin-pool.ts';
import {
  addDetails,
  addUsage,
  endingOf,
  failedEnd,
  BETWEEN_PARTS,
  malformed,
  replyDetails,
  reportedError,
  tooLargeToParse,
  type EventReading,
  type Expected,
  type KnownDetails,
  type ReplyDetails,
  type ReplyFormat,
  type WireObject,
} from './reply-format.ts';

/**
 * Reads one streamed reply, whose events are JSON objects in every format. Events that differ only in their delta of text are
 * read without being parsed.
 */
export class WireStream {
  readonly #format: ReplyFormat;
  readonly #wantsReasoning: boolean;
  readonly #tool: ToolReply | undefined;
  readonly #hole = new TextHole((event) =>
    isJsonObject(event) ? this.#plainText(this.#format.readEvent(event, this.#known)) : undefined,
  );
  /** Joined when they are taken: a concatenated string is a tree in which every delta lives as long as the reply. */
  #deltas: string[] = [];
  #reasoning: string[] = [];
  #sawReasoning = false;
  #reasoningPart: EventReading['reasoningPart'];
  readonly #known: KnownDetails = {};
  /** The parts whose text is no answer. */
  readonly #asides = new Set<number>();
  /** Set when the provider reported a failure, or when an event cannot be read. */
  fault: UpstreamFailure | undefined;
  /** The provider announced the end. */
  done = false;

  constructor(format: ReplyFormat, { wantsReasoning = false, asTool = false }: Expected = {}) {
    this.#format = format;
    this.#wantsReasoning = wantsReasoning;
    this.#tool = asTool ? new ToolReply() : undefined;
  }

  /** Everything known besides the text. */
  get details(): ReplyDetails {
    return replyDetails(this.#known, this.#format, this.#tool !== undefined);
  }

  /** A finish reason or an end mark arrived: a stream that ends without one was cut off. */
  get complete(): boolean {
    return this.done || this.#known.finishReason !== undefined;
  }

  /** The text since the last call; empty when there was none. */
  takeText(): string {
    const deltas = this.#deltas;
    const [first] = deltas;
    if (first === undefined) return '';
    this.#deltas = [];
    return deltas.length === 1 ? first : deltas.join('');
  }

  /** The reasoning since the last call; empty if there is none, or if the caller does not ask for it. */
  takeReasoning(): string {
    const deltas = this.#reasoning;
    if (deltas.length === 0) return '';
    this.#reasoning = [];
    return deltas.join('');
  }

  /** The data of one event is `source.slice(start, end)`. */
  event(source: string, start: number, end: number): void {
    if (this.done || this.fault !== undefined) return;
    const delta = this.#hole.read(source, start, end);
    if (delta === undefined) this.#parse(source.slice(start, end));
    else this.#deltas.push(delta);
  }

  /**
   * Takes as many events as it can from those whose data begins at `start` and that follow each other with `gap` between
   * the data of each two; returns where the data of the first remaining event begins.
   */
  run(source: string, start: number, gap: string): number {
    if (this.done || this.fault !== undefined) return start;
    const run = this.#hole.readRun(source, start, gap);
    if (run === undefined) return start;
    this.#deltas.push(run.text);
    return run.next;
  }

  #parse(data: string): void {
    if (data.trimEnd() === '[DONE]') {
      this.done = true;
      return;
    }
    this.fault = tooLargeToParse(data, 'an event');
    if (this.fault !== undefined) return;
    const event = parseJson(data);
    // DashScope writes it between chunks.
    if (event === null) return;
    if (!isJsonObject(event)) {
      this.fault = malformed(`sent an event that is not a JSON object: ${JSON.stringify(data.slice(0, 200))}`);
      return;
    }
    const error = event['error'] ?? undefined;
    if (error === undefined) this.#take(event, data);
    else this.fault = reportedError(error);
  }

  #take(event: WireObject, data: string): void {
    const read = this.#withoutAside(this.#format.readEvent(event, this.#known));
    this.fault = read.fault;
    this.done = read.done === true;
    addDetails(this.#known, read);
    const { finishReason } = this.#known;
    if (endingOf(finishReason, this.#format.facts) === 'failed') this.fault ??= failedEnd(finishReason);
    const hasUsage = addUsage(this.#known, this.#format, event);
    const delta = this.#tool === undefined ? (read.text ?? '') : this.#tool.take(read, this.complete);
    this.#deltas.push(delta);
    if (this.#wantsReasoning && hasReasoning(read)) this.#addReasoning(read);
    if (delta !== '' && !hasUsage && this.#plainText(read) === delta) this.#hole.learn(data, delta);
  }

  /** The text of a comment counts as reasoning. */
  #withoutAside(read: EventReading): EventReading {
    const { asidePart, part = -1, text } = read;
    if (asidePart !== undefined) this.#asides.add(asidePart);
    if (!this.#asides.has(part)) return read;
    return { ...read, text: undefined, reasoning: text, reasoningPart: part };
  }

  /** The part of the reply in an event that contains nothing else; undefined for every other event. */
  #plainText(read: EventReading): string | undefined {
    const { finishReason, refusal, blocked, tool, fault, done } = read;
    const other = finishReason ?? refusal ?? blocked ?? tool ?? fault ?? done;
    if (other !== undefined || hasReasoning(read)) return undefined;
    return this.#tool === undefined ? read.text : this.#tool.inputOf(read);
  }

  #addReasoning({ reasoning = '', reasoningPart }: EventReading): void {
    if (this.#sawReasoning && reasoningPart !== this.#reasoningPart) this.#reasoning.push(BETWEEN_PARTS);
    this.#sawReasoning = true;
    this.#reasoningPart = reasoningPart;
    this.#reasoning.push(reasoning);
  }
}

function hasReasoning({ reasoning = '' }: EventReading): boolean {
  return reasoning !== '';
}

/**
 * The longest text before the input of a tool, in UTF-16 units, that a stream holds back. A model that has to call a tool writes
 * little text before it.
 */
const MAX_HELD = 16_384;

/** The streamed reply of a model that has to call a tool: the input of the first call, or the text if it calls none. */
class ToolReply {
  #held = '';
  /** The part with the first call, -1 if the provider does not number its parts. Not all can limit a model to one call. */
  #part: number | undefined;
  #hasInput = false;
  #passes = false;

  /** Returns the part of the reply in an event. `complete`: it has the finish reason; some gateways send nothing after it. */
  take(read: EventReading, complete: boolean): string {
    const { text = '', tool, part = -1 } = read;
    if (tool !== undefined) this.#part ??= part;
    const input = this.inputOf(read) ?? '';
    this.#hasInput ||= input !== '';
    const taken = input === '' ? this.#text(text) : input;
    return complete ? taken + this.#end() : taken;
  }

  /** The input of the first call in an event; undefined if there is none. */
  inputOf({ toolInput, part = this.#part }: EventReading): string | undefined {
    return this.#part !== undefined && part === this.#part ? toolInput : undefined;
  }

  #text(delta: string): string {
    if (this.#part !== undefined) return '';
    if (this.#passes) return delta;
    this.#held += delta;
    if (this.#held.length <= MAX_HELD) return '';
    this.#passes = true;
    return this.#held;
  }

  /** Returns what remains at the end, once: a tool without members has no input in streams. */
  #end(): string {
    const held = this.#part === undefined ? this.#held : '{}';
    const isRead = this.#part === undefined ? this.#passes : this.#hasInput;
    this.#hasInput = true;
    this.#passes = true;
    return isRead ? '' : held;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Learning costs two parses, so it stops after this many events that did not repeat the learned shape. */
const MAX_LESSONS = 6;

/** Takes the place of the text while a shape is tested; no model writes it. */
const PROBE = '\u0001probe\u0001';
const PROBE_JSON = JSON.stringify(PROBE);

/**
 * Most events of a streamed reply differ only in their delta of text. This learns the bytes before and after that text
 * from one parsed event, and then reads the text of events that repeat them exactly, without JSON.parse. It proves the
 * learned shape by parsing it with another text in the hole, so a match is unambiguous. An event that differs anywhere
 * does not match, and the caller parses it.
 */
class TextHole {
  /** The delta of an event that contains nothing else; undefined for any other event. */
  readonly #textOf: (event: unknown) => string | undefined;
  #before = '';
  #after = '';
  /**
   * Some providers append meaningless text that differs in each event (`"obfuscation":"…"`, `"p":"…"`): the brackets
   * after it; empty when there is none.
   */
  #behindPadding = '';
  /** The gap of the last run, and the bytes between the texts of its events; empty before the first run of the learned shape. */
  #gap = '';
  #textGap = '';
  #lessons = 0;

  constructor(textOf: (event: unknown) => string | undefined) {
    this.#textOf = textOf;
  }

  /** The text of the event `source.slice(start, end)`; undefined when its shape is not the learned one. */
  read(source: string, start: number, end: number): string | undefined {
    // A slice is free and compares machine words; startsWith compares character by character.
    if (this.#before === '' || source.slice(start, start + this.#before.length) !== this.#before) return undefined;
    const from = start + this.#before.length;
    const quote = closingQuote(source, from, end);
    if (quote < 0 || !this.#endsAsLearned(source, quote, end)) return undefined;
    const raw = source.slice(from, quote);
    return raw.includes('\\') ? unescape(raw) : raw;
  }

  /**
   * The text of all events of the learned shape that follow each other from `start` with `gap` between each two, except the
   * last one, and the start of that one. One search finds the bytes between their texts, whatever their number.
   */
  readRun(source: string, start: number, gap: string): Run | undefined {
    if (this.#before === '' || this.#behindPadding !== '') return undefined;
    const from = start + this.#before.length;
    if (source.slice(start, from) !== this.#before) return undefined;
    const between = this.#between(gap);
    const to = source.lastIndexOf(between);
    if (to < from) return undefined;
    const deltas = source.slice(from, to);
    const raw = source.indexOf(between, from) === to ? deltas : deltas.split(between).join('');
    const isPlain = !raw.includes('\\') && !raw.includes('"') && !raw.includes('\n');
    const text = isPlain ? raw : escapedText(source.slice(from, to + between.length), between, raw);
    return text === undefined ? undefined : { text, next: to + between.length - this.#before.length };
  }

  /** The bytes between the texts of two events of the learned shape. */
  #between(gap: string): string {
    if (this.#gap !== gap) {
      this.#gap = gap;
      this.#textGap = `"${this.#after}${gap}${this.#before}`;
    }
    return this.#textGap;
  }

  /** Learns from a parsed event whose delta is `text`. */
  learn(source: string, text: string): void {
    if (this.#lessons >= MAX_LESSONS || text === '') return;
    this.#lessons += 1;
    const quoted = JSON.stringify(text);
    for (let at = source.indexOf(quoted); at >= 0; at = source.indexOf(quoted, at + 1)) {
      if (this.#tryHole(source.slice(0, at + 1), source.slice(at + quoted.length))) return;
    }
  }

  #tryHole(before: string, after: string): boolean {
    if (this.#textOf(parseJson(before.slice(0, -1) + PROBE_JSON + after)) !== PROBE) return false;
    this.#before = before;
    const [padding = '', start = '', behind = ''] = PADDING.exec(after) ?? [];
    this.#behindPadding = behind;
    this.#gap = '';
    this.#after = after.slice(0, after.length - padding.length) + start;
    return true;
  }

  #endsAsLearned(source: string, quote: number, end: number): boolean {
    const from = quote + 1;
    const tail = from + this.#after.length;
    if (source.slice(from, tail) !== this.#after) return false;
    const behind = this.#behindPadding;
    if (behind === '') return tail === end;
    return source.indexOf('"', tail) === end - behind.length - 1 && source.slice(end - behind.length, end) === behind;
  }
}

interface Run {
  readonly text: string;
  readonly next: number;
}

/** Undefined when other events, with a quote or a line break, are among these, or when an escape spans two. */
function escapedText(events: string, between: string, raw: string): string | undefined {
  return events.includes(`\\${between}`) ? undefined : unescape(raw);
}

const PADDING = /("(?:obfuscation|p)":")[A-Za-z0-9]*"(\}+)$/u;

/** Index of the quote that ends the JSON string starting at `from`; -1 when it is not before `end`. */
function closingQuote(source: string, from: number, end: number): number {
  for (let quote = source.indexOf('"', from); quote >= 0 && quote < end; quote = source.indexOf('"', quote + 1)) {
    let at = quote - 1;
    while (at >= from && source.charCodeAt(at) === BACKSLASH) at -= 1;
    if ((quote - at) % 2 === 1 && source.charCodeAt(quote) === QUOTE) return quote;
  }
  return -1;
}

function unescape(raw: string): string | undefined {
  const value = parseJson(`"${raw}"`);
  return typeof value === 'string' ? value : undefined;
}
