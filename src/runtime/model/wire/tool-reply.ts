import type { EventObject } from './json-event-stream.ts';
import type { ReplyDetails } from './reply-format.ts';

/**
 * The longest text before the input of a tool, in UTF-16 units, that a stream holds back. Models that have to call a tool write
 * a few thoughts at most.
 */
const MAX_HELD = 16_384;

/**
 * The streamed reply of a model that has to call a tool: the input of the tool. The text of the model is the reply if it
 * calls no tool.
 */
export class ToolReply {
  #held = '';
  #called = false;
  #hasInput = false;
  #passes = false;

  /** Returns the part of the reply in a delta of text. */
  text(delta: string): string {
    if (this.#called) return '';
    if (this.#passes) return delta;
    this.#held += delta;
    if (this.#held.length <= MAX_HELD) return '';
    this.#passes = true;
    return this.#held;
  }

  /** Returns the part of the reply in a delta of the tool's input. */
  input(delta: string): string {
    this.#called = true;
    this.#hasInput ||= delta !== '';
    return delta;
  }

  /** Returns the part of the reply that remains at the end: a tool without members has no input in streams. */
  end(): string {
    if (this.#called) return this.#hasInput ? '' : '{}';
    return this.#passes ? '' : this.#held;
  }
}

/** The input of a tool as the text of a reply. */
export function toolText(input: EventObject | undefined): string {
  return JSON.stringify(input ?? {});
}

/**
 * The end of a tool call is the normal end of such a reply, which the lists of accepted finish reasons know by another
 * name.
 */
export function answeredByTool<Details extends ReplyDetails>(details: Details): Details {
  return details.finishReason === 'tool_use' ? { ...details, finishReason: 'end_turn' } : details;
}
