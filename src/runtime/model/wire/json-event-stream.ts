import { isJsonObject, parseJson } from '../../../base/json.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import {
  BETWEEN_PARTS,
  malformed,
  tooLargeToParse,
  type PossibleDetails,
  type ReplyDetails,
  type StreamedReply,
  type WireObject,
} from './reply-format.ts';

/** A delta of the reasoning. */
export interface ReasoningDelta {
  readonly text: string | undefined;
  /** The part of the reasoning that the delta belongs to; absent if the provider does not divide the reasoning. */
  readonly part?: string | number | undefined;
}

/**
 * A streamed reply whose events are JSON objects: the common part of all formats. Events that differ only in their delta
 * of text are read without being parsed.
 */
export abstract class JsonEventStream implements StreamedReply {
  readonly #hole = new TextHole((event) => (isJsonObject(event) ? this.plainText(event) : undefined));
  /** Joined when they are taken: a concatenated string is a tree in which every delta lives as long as the reply. */
  #deltas: string[] = [];
  readonly #wantsReasoning: boolean;
  #reasoning: string[] = [];
  #sawReasoning = false;
  #reasoningPart: ReasoningDelta['part'];
  fault: UpstreamFailure | undefined;
  done = false;
  readonly #details: { -readonly [Key in keyof ReplyDetails]: ReplyDetails[Key] } = {};

  constructor(wantsReasoning: boolean) {
    this.#wantsReasoning = wantsReasoning;
  }

  get details(): ReplyDetails {
    return this.#details;
  }

  get complete(): boolean {
    return this.done || this.#details.finishReason !== undefined;
  }

  takeText(): string {
    const deltas = this.#deltas;
    const [first] = deltas;
    if (first === undefined) return '';
    this.#deltas = [];
    return deltas.length === 1 ? first : deltas.join('');
  }

  takeReasoning(): string {
    const deltas = this.#reasoning;
    if (deltas.length === 0) return '';
    this.#reasoning = [];
    return deltas.join('');
  }

  event(source: string, start: number, end: number): void {
    if (this.done || this.fault !== undefined) return;
    const delta = this.#hole.read(source, start, end);
    if (delta === undefined) this.#parse(source.slice(start, end));
    else this.#deltas.push(delta);
  }

  run(source: string, start: number, gap: string): number {
    if (this.done || this.fault !== undefined) return start;
    const run = this.#hole.readRun(source, start, gap);
    if (run === undefined) return start;
    this.#deltas.push(run.text);
    return run.next;
  }

  /** Takes an event, and returns its delta of text. */
  protected abstract take(event: WireObject): string;

  /** Returns the reasoning in an event, if it has any. Called only if the caller asks for it. */
  protected abstract reasoningOf(event: WireObject): ReasoningDelta | undefined;

  /** The text of an event that contains nothing else; undefined for every other event. */
  protected abstract plainText(event: WireObject): string | undefined;

  /** Adds known details. Undefined ones change nothing. A refusal arrives in parts. */
  protected learnDetails(learned: PossibleDetails): void {
    const { finishReason, responseModel, refusal, inputTokens, outputTokens, tokenDetails } = learned;
    if (finishReason !== undefined) this.#details.finishReason = finishReason;
    if (refusal !== undefined) this.#details.refusal = (this.#details.refusal ?? '') + refusal;
    if (responseModel !== undefined) this.#details.responseModel = responseModel;
    if (inputTokens !== undefined) this.#details.inputTokens = inputTokens;
    if (outputTokens !== undefined) this.#details.outputTokens = outputTokens;
    // Anthropic reports the cache at the start, and other counts at the end.
    if (tokenDetails !== undefined) this.#details.tokenDetails = { ...this.#details.tokenDetails, ...tokenDetails };
  }

  #parse(data: string): void {
    if (data.trimEnd() === '[DONE]') {
      this.done = true;
      return;
    }
    this.fault = tooLargeToParse(data, 'an event');
    if (this.fault !== undefined) return;
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      this.fault = malformed(`sent an event that is not a JSON object: ${JSON.stringify(data.slice(0, 200))}`);
      return;
    }
    const delta = this.take(event);
    this.#deltas.push(delta);
    // The reader does not learn the shape of an event with both, because it reads only the text of events with a known shape.
    if (this.#wantsReasoning && this.#addReasoning(this.reasoningOf(event))) return;
    if (delta !== '' && this.plainText(event) === delta) this.#hole.learn(data, delta);
  }

  /** Returns false if there is none. */
  #addReasoning(delta: ReasoningDelta | undefined): boolean {
    if (delta?.text === undefined || delta.text === '') return false;
    if (this.#sawReasoning && delta.part !== this.#reasoningPart) this.#reasoning.push(BETWEEN_PARTS);
    this.#sawReasoning = true;
    this.#reasoningPart = delta.part;
    this.#reasoning.push(delta.text);
    return true;
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
