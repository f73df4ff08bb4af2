import { isJsonObject, parseJson } from '../../../base/json.ts';
import { EventRun, isDecimalDigit, unescape, type Hole, type TextRun } from './event-run.ts';
import type { UpstreamFailure } from '../http/origin-pool.ts';
import {
  addDetails,
  addUsage,
  modelReply,
  endingOf,
  failedEnd,
  BETWEEN_PARTS,
  malformed,
  reportedError,
  tooLargeToParse,
  type EventReading,
  type Expected,
  type KnownDetails,
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
  readonly #shape: TextShape;
  #lessons = 0;
  #events = 0;
  /** The last event that was not parsed, if its usage can matter: only that of the last event counts. */
  #unread = '';
  /** Joined when they are taken: a concatenated string is a tree in which every delta lives as long as the reply. */
  #deltas: string[] = [];
  #reasoning: string[] = [];
  #sawReasoning = false;
  #reasoningPart: EventReading['reasoningPart'];
  readonly #known: KnownDetails = {};
  /** The parts that are comments. */
  readonly #asides = new Set<number>();
  /** Set when the provider reported a failure, or when an event cannot be read. */
  fault: UpstreamFailure | undefined;
  /** The provider announced the end. */
  done = false;

  /** `shape`: that of the streams before this one from the same service. */
  constructor(format: ReplyFormat, { wantsReasoning = false, asTool = false }: Expected = {}, shape = new TextShape()) {
    this.#format = format;
    this.#shape = shape;
    this.#wantsReasoning = wantsReasoning;
    this.#tool = asTool ? new ToolReply() : undefined;
  }

  /** The reply that has this text. */
  reply(text: string): ReturnType<typeof modelReply> {
    const event = this.#unread === '' ? undefined : parseJson(this.#unread);
    if (isJsonObject(event)) addUsage(this.#known, this.#format, event);
    this.#unread = '';
    return modelReply(text, this.#known, this.#format, this.#tool !== undefined);
  }

  /** A finish reason or an end mark arrived: a stream that ends without one was cut off. */
  get complete(): boolean {
    return this.done || this.#known.finishReason !== undefined;
  }

  /** The number of events since the last call. */
  takeEvents(): number {
    const events = this.#events;
    this.#events = 0;
    return events;
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
    this.#events += 1;
    const delta = this.#shape.read(source, start, end);
    if (delta === undefined || !this.#suits) this.#parse(source.slice(start, end));
    else {
      this.#deltas.push(delta);
      if (this.#shape.hasUsage) this.#unread = source.slice(start, end);
    }
  }

  /**
   * Takes as many events as it can from `bytes.subarray(from, to)`, which begins with the `head` of an event: the bytes before its
   * data. Returns the position of the first remaining event.
   */
  run(bytes: Buffer, from: number, to: number, head: string): number {
    if (this.done || this.fault !== undefined || this.#shape.hasUsage || !this.#suits) return from;
    const run = this.#shape.readRun(bytes, from, to, head);
    if (run === undefined) return from;
    this.#events += run.events;
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
    if (hasUsage) this.#unread = '';
    const delta = this.#tool === undefined ? (read.text ?? '') : this.#tool.take(read, this.complete);
    this.#deltas.push(delta);
    if (this.#wantsReasoning && hasReasoning(read)) this.#addReasoning(read);
    const reading = delta === '' ? undefined : this.#textReading(read);
    if (reading?.text !== delta || (hasUsage && this.#format.dividesUsage === true)) return;
    // The first event of each stream is parsed for the name of its model.
    const isKnown = this.#shape.model === reading.model && this.#shape.hasUsage === hasUsage;
    if (isKnown && this.#shape.read(data, 0, data.length) === delta) return;
    if (this.#lessons >= MAX_LESSONS) return;
    this.#lessons += 1;
    this.#shape.learn(data, { ...reading, hasUsage }, (probe) =>
      isJsonObject(probe) ? this.#textReading(this.#format.readEvent(probe, this.#known)) : undefined,
    );
  }

  /** The text of a comment counts as reasoning. */
  #withoutAside(read: EventReading): EventReading {
    const { asidePart, part = -1, text } = read;
    if (asidePart !== undefined) this.#asides.add(asidePart);
    if (!this.#asides.has(part)) return read;
    return { ...read, text: undefined, reasoning: text, reasoningPart: part };
  }

  /** True if an event of the shape would be text here as well, and would state nothing new. */
  get #suits(): boolean {
    const { model, part } = this.#shape;
    if (model !== undefined && model !== this.#known.responseModel) return false;
    return this.#tool === undefined ? part === undefined || !this.#asides.has(part) : this.#tool.isPart(part);
  }

  /** The reading of an event with a part of the reply and nothing else that matters; undefined for every other event. */
  #textReading(read: EventReading): TextReading | undefined {
    const { finishReason = '', refusal, blocked, tool, fault, done, responseModel, part, asidePart } = read;
    const other = refusal ?? blocked ?? tool ?? fault ?? done ?? asidePart;
    if (finishReason !== '' || other !== undefined || hasReasoning(read)) return undefined;
    const text = this.#tool === undefined ? read.text : this.#tool.inputOf(read);
    return text === undefined ? undefined : { text, model: responseModel, part };
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
  inputOf({ toolInput, part }: EventReading): string | undefined {
    return this.isPart(part) ? toolInput : undefined;
  }

  /** True for the part with the first call. Some services do not number their parts. */
  isPart(part = this.#part): boolean {
    return this.#part !== undefined && part === this.#part;
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
const SPACE = 32;

/** A lesson costs some parses, so learning stops after this many events that did not repeat the learned shape. */
const MAX_LESSONS = 6;

/** Takes the place of a string while a shape is tested; no model writes it. */
const PROBE = '\u0001probe\u0001';
const PROBE_JSON = JSON.stringify(PROBE);
/** The same for the number of a part. */
const PART = '987654321';

/** An event with text, and what else it states. */
interface TextReading {
  readonly text: string;
  readonly model: string | undefined;
  readonly part: number | undefined;
}

type ReadText = (event: unknown) => TextReading | undefined;

/** A scalar value in JSON text. */
interface Scalar {
  readonly start: number;
  readonly end: number;
  readonly isString: boolean;
}

/**
 * Most events of a streamed reply have one shape: only their delta of text differs, and values that say nothing about the reply,
 * such as a number in sequence. This learns the shape from parsed events, and then reads the text of events that repeat it
 * without JSON.parse. It proves each place that may differ by parsing the event with another value there, so a match is
 * unambiguous. An event that differs anywhere else does not match, and the caller parses it.
 */
export class TextShape {
  /** What the events state besides their text. The part is that of the last event that was read. */
  model: string | undefined;
  part: number | undefined;
  hasUsage = false;
  #holes: readonly Hole[] = [];
  /** The bytes after the last hole, and the same without spaces. */
  #after = '';
  #tail = '';
  /** Reads runs of the learned shape; undefined before the first one. */
  #run: EventRun | undefined;
  #sample:
    | { readonly source: string; readonly scalars: readonly Scalar[]; readonly free: ReadonlySet<number> }
    | undefined;

  /** The text of the event `source.slice(start, end)`; undefined when its shape is not the learned one. */
  read(source: string, start: number, end: number): string | undefined {
    const holes = this.#holes;
    let at = start;
    let text: string | undefined;
    let { part } = this;
    for (let index = 0; index < holes.length; index += 1) {
      const hole = holes[index];
      if (hole === undefined) return undefined;
      // A slice is free and compares machine words; startsWith compares character by character.
      const from = at + hole.before.length;
      if (source.slice(at, from) !== hole.before) return undefined;
      const isString = hole.kind === 'text' || hole.kind === 'string';
      at = isString ? closingQuote(source, from, end) : numberEnd(source, from);
      if (at < 0) return undefined;
      if (hole.kind === 'text') text = source.slice(from, at);
      else if (hole.kind === 'part') part = Number(source.slice(from, at));
    }
    if (text === undefined || !this.#endsAsLearned(source, at, end)) return undefined;
    this.part = part;
    return text.includes('\\') ? unescape(text) : text;
  }

  #endsAsLearned(source: string, from: number, end: number): boolean {
    if (source.slice(from, end) === this.#after) return true;
    let learned = 0;
    for (let at = from; at < end; at += 1) {
      const code = source.charCodeAt(at);
      if (code === SPACE) continue;
      if (code !== this.#tail.charCodeAt(learned)) return false;
      learned += 1;
    }
    return learned === this.#tail.length;
  }

  /** The events of the learned shape and the current part that follow each other from `from`, each with `head` before its data. */
  readRun(bytes: Buffer, from: number, to: number, head: string): TextRun | undefined {
    if (this.#holes.length === 0) return undefined;
    if (this.#run?.head !== head) this.#run = new EventRun(head, this.#holes, this.#after);
    return this.#run.read(bytes, from, to, this.part);
  }

  /** Learns from a parsed event with this reading. `readText`: the reading of an event; undefined if it states something else. */
  learn(source: string, reading: TextReading & { readonly hasUsage: boolean }, readText: ReadText): void {
    const scalars = scalarsOf(source);
    const isSame = (at: number, other: string, text: string, part = reading.part): boolean => {
      const { start, end } = scalars[at] ?? NOWHERE;
      const read = readText(parseJson(source.slice(0, start) + other + source.slice(end)));
      return read?.text === text && read.model === reading.model && read.part === part;
    };
    const text = scalars.findIndex(({ isString }, at) => isString && isSame(at, PROBE_JSON, PROBE));
    if (text < 0) return;
    const last = this.#sample;
    const differing = last === undefined ? undefined : differences(last, { source, scalars });
    const free = new Set(differing === undefined ? [] : [...(last?.free ?? []), ...differing]);
    free.delete(text);
    const part = scalars.findIndex(
      ({ isString }, at) => reading.part !== undefined && !isString && isSame(at, PART, reading.text, Number(PART)),
    );
    free.delete(part);
    // Each of them can have any value.
    if (![...free].every((at) => isSame(at, otherValue(source, scalars[at]), reading.text))) free.clear();
    this.#sample = { source, scalars, free };
    this.#take(source, scalars, (at) =>
      at === text ? 'text' : at === part ? 'part' : free.has(at) ? 'string' : undefined,
    );
    this.model = reading.model;
    this.part = reading.part;
    this.hasUsage = reading.hasUsage;
  }

  #take(
    source: string,
    scalars: readonly Scalar[],
    kindOf: (at: number) => 'text' | 'string' | 'part' | undefined,
  ): void {
    const holes: Hole[] = [];
    let from = 0;
    for (const [at, { start, end, isString }] of scalars.entries()) {
      const kind = kindOf(at);
      if (kind === undefined) continue;
      // The quotes of a string belong to the bytes around it.
      const [open, close] = isString ? [start + 1, end - 1] : [start, end];
      holes.push({ before: source.slice(from, open), kind: isString || kind === 'part' ? kind : 'number' });
      from = close;
    }
    this.#holes = holes;
    this.#after = source.slice(from);
    this.#tail = this.#after.replaceAll(' ', '');
    this.#run = undefined;
  }
}

const NOWHERE: Scalar = { start: 0, end: 0, isString: false };

function otherValue(source: string, { start, end, isString } = NOWHERE): string {
  return isString ? PROBE_JSON : source.slice(start, end) === '7' ? '8' : '7';
}

/** Index of the quote that ends the JSON string starting at `from`; -1 when it is not before `end`. */
function closingQuote(source: string, from: number, end: number): number {
  for (let quote = source.indexOf('"', from); quote >= 0 && quote < end; quote = source.indexOf('"', quote + 1)) {
    let at = quote - 1;
    while (at >= from && source.charCodeAt(at) === BACKSLASH) at -= 1;
    if ((quote - at) % 2 === 1 && source.charCodeAt(quote) === QUOTE) return quote;
  }
  return -1;
}

/** The end of the digits at `from`; -1 if there are none. */
function numberEnd(source: string, from: number): number {
  let at = from;
  while (isDecimalDigit(source.charCodeAt(at))) at += 1;
  return at === from ? -1 : at;
}

/** The strings and whole numbers of JSON text that are values. */
function scalarsOf(source: string): readonly Scalar[] {
  const scalars: Scalar[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === QUOTE) {
      const end = closingQuote(source, at + 1, source.length) + 1;
      if (end === 0) return [];
      if (!/^\s*:/u.test(source.slice(end, end + 10))) scalars.push({ start: at, end, isString: true });
      at = end - 1;
    } else if (isDecimalDigit(code)) {
      const end = numberEnd(source, at);
      scalars.push({ start: at, end, isString: false });
      at = end - 1;
    }
  }
  return scalars;
}

/** The positions of the scalars in which two events differ; undefined if they differ in anything else but spaces at their ends. */
function differences(
  a: { readonly source: string; readonly scalars: readonly Scalar[] },
  b: { readonly source: string; readonly scalars: readonly Scalar[] },
): readonly number[] | undefined {
  if (a.scalars.length !== b.scalars.length) return undefined;
  const found: number[] = [];
  let [atA, atB] = [0, 0];
  for (const [index, inA] of a.scalars.entries()) {
    const inB = b.scalars[index];
    if (inB === undefined || inA.isString !== inB.isString) return undefined;
    if (a.source.slice(atA, inA.start) !== b.source.slice(atB, inB.start)) return undefined;
    if (a.source.slice(inA.start, inA.end) !== b.source.slice(inB.start, inB.end)) found.push(index);
    [atA, atB] = [inA.end, inB.end];
  }
  const isSame = a.source.slice(atA).replaceAll(' ', '') === b.source.slice(atB).replaceAll(' ', '');
  return isSame ? found : undefined;
}
