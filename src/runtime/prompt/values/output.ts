import type { JsonObject } from '../../../base/json.ts';
import type { MediaPart } from '../../../schema/message.ts';
import type { Work } from './work.ts';

/** A boundary in a prompt. Segments are objects next to the text, so no text can become one. */
export type Segment = RoleSegment | MediaSegment;

/** The start of a message. */
export interface RoleSegment {
  readonly kind: 'role';
  readonly role: string;
  readonly metadata: JsonObject;
}

interface MediaSegment {
  readonly kind: 'media';
  readonly part: MediaPart;
}

export type Fragment = string | Segment;

/** The output of a template or of one value. Text is one string up to the first segment; after that, fragments are kept apart. */
export class PromptOutput {
  /** The rendering that pays for printing. */
  readonly work: Work;
  /** The text since the last segment. */
  text = '';
  #before: Fragment[] | undefined;
  #lengthBefore = 0;

  constructor(work: Work) {
    this.work = work;
  }

  /** Characters so far; a segment counts as one. */
  get length(): number {
    return this.#lengthBefore + this.text.length;
  }

  write(text: string): void {
    this.text += text;
  }

  mark(segment: Segment): void {
    this.#before ??= [];
    if (this.text !== '') this.#before.push(this.text);
    this.#lengthBefore += this.text.length + 1;
    this.text = '';
    this.#before.push(segment);
  }

  writeFragments(fragments: readonly Fragment[]): void {
    for (const fragment of fragments) {
      if (typeof fragment === 'string') this.text += fragment;
      else this.mark(fragment);
    }
  }

  get hasSegments(): boolean {
    return this.#before !== undefined;
  }

  fragments(): readonly Fragment[] {
    const before = this.#before ?? [];
    return this.text === '' ? before : [...before, this.text];
  }
}
