import { isJsonObject, parseJson } from '../../../base/json.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { BETWEEN_PARTS, malformed, tooLargeToParse } from './reply-format.ts';
import type { PossibleDetails, ReplyDetails, StreamedReply, WireObject } from './reply-format.ts';
import { TextHole } from './text-hole.ts';

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
