import { isJsonObject } from '../../../base/json.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { parseJson } from './json-reading.ts';
import { malformed } from './reply-format.ts';
import type { ModelReply, StreamedReply } from './reply-format.ts';
import { TextHole } from './text-hole.ts';

/** A JSON object that an event holds. */
export type EventObject = Readonly<Record<string, unknown>>;

type Details = Omit<ModelReply, 'text'>;

/**
 * A streamed reply whose events are JSON objects: what all formats share. Events that differ only in their piece of
 * text are read without being parsed.
 */
export abstract class JsonEventStream implements StreamedReply {
  readonly #hole = new TextHole((event) => (isJsonObject(event) ? this.plainText(event) : undefined));
  /** Joined when they are taken: a sum of strings is a tree in which every piece lives as long as the reply. */
  #pieces: string[] = [];
  fault: UpstreamFailure | undefined;
  done = false;
  readonly #details: { -readonly [Key in keyof Details]: Details[Key] } = {};

  get details(): Details {
    return this.#details;
  }

  get complete(): boolean {
    return this.done || this.#details.finishReason !== undefined;
  }

  takeText(): string {
    const pieces = this.#pieces;
    if (pieces.length === 0) return '';
    this.#pieces = [];
    return pieces.join('');
  }

  event(source: string, start: number, end: number): void {
    if (this.done || this.fault !== undefined) return;
    const piece = this.#hole.read(source, start, end);
    if (piece === undefined) this.#parse(source.slice(start, end));
    else this.#pieces.push(piece);
  }

  run(source: string, start: number, gap: string): number {
    if (this.done || this.fault !== undefined) return start;
    const run = this.#hole.readRun(source, start, gap);
    if (run === undefined) return start;
    this.#pieces.push(run.text);
    return run.next;
  }

  /** Takes what an event says, and returns the text that it brings. */
  protected abstract take(event: EventObject): string;

  /** The text of an event that says nothing else; undefined for every other event. */
  protected abstract plainText(event: EventObject): string | undefined;

  /** Adds to what is known besides the text; what is undefined changes nothing. */
  protected learnDetails(learned: { readonly [Key in keyof Details]?: Details[Key] | undefined }): void {
    const { finishReason, inputTokens, outputTokens } = learned;
    if (finishReason !== undefined) this.#details.finishReason = finishReason;
    if (inputTokens !== undefined) this.#details.inputTokens = inputTokens;
    if (outputTokens !== undefined) this.#details.outputTokens = outputTokens;
  }

  #parse(data: string): void {
    if (data.trimEnd() === '[DONE]') {
      this.done = true;
      return;
    }
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      this.fault = malformed(`sent an event that is not a JSON object: ${JSON.stringify(data.slice(0, 200))}`);
      return;
    }
    const piece = this.take(event);
    this.#pieces.push(piece);
    if (piece !== '' && this.plainText(event) === piece) this.#hole.learn(data, piece);
  }
}
