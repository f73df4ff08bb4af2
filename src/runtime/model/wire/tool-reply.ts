import { rawValueAt } from '../../../base/json-text.ts';
import type { ReplyDetails } from './reply-format.ts';

/**
 * The longest text before the input of a tool, in UTF-16 units, that a stream holds back. A model that has to call a tool writes
 * little text before it.
 */
const MAX_HELD = 16_384;

/**
 * The streamed reply of a model that has to call a tool: the input of the first call. The text of the model is the reply if
 * it calls no tool.
 */
export class ToolReply {
  #held = '';
  #calls = 0;
  #hasInput = false;
  #passes = false;

  /** A call of the tool begins. Not all providers can limit a model to one call. */
  begin(): void {
    this.#calls += 1;
  }

  /** Returns the part of the reply in a delta of text. */
  text(delta: string): string {
    if (this.#calls > 0) return '';
    if (this.#passes) return delta;
    this.#held += delta;
    if (this.#held.length <= MAX_HELD) return '';
    this.#passes = true;
    return this.#held;
  }

  /** Returns the part of the reply in a delta of the tool's input. */
  input(delta: string): string {
    if (this.#calls > 1) return '';
    this.#calls = 1;
    this.#hasInput ||= delta !== '';
    return delta;
  }

  /** Returns the part of the reply that remains at the end, once: a tool without members has no input in streams. */
  end(): string {
    const held = this.#calls > 0 ? '{}' : this.#held;
    const isRead = this.#calls > 0 ? this.#hasInput : this.#passes;
    this.#hasInput = true;
    this.#passes = true;
    return isRead ? '' : held;
  }
}

/** The input of a tool as the text of a reply: the part of the body at `path`, as the model wrote it. */
export function toolText(body: string, path: ReadonlyArray<string | number>): string {
  const input = rawValueAt(body, path);
  return input?.startsWith('{') === true ? input : '{}';
}

/**
 * A tool call is the normal end of such a reply, but the lists of accepted finish reasons contain its normal end under another
 * name.
 */
export function answeredByTool<Details extends ReplyDetails>(details: Details): Details {
  return details.finishReason === 'tool_use' ? { ...details, finishReason: 'end_turn' } : details;
}
