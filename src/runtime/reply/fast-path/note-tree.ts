import { joinPath, MAX_NOTES } from '../coercion/outcome.ts';
import type { ParseFlag } from '../reply-parser.ts';

interface MemberNotes {
  readonly order: number;
  readonly segment: string;
  readonly notes: NoteTree;
}

/** What had to be forgiven in a value and its members. Paths are made at the end, and only of what is kept. */
export class NoteTree {
  own: ParseFlag | undefined = undefined;
  readonly #members: MemberNotes[] = [];
  #inMembers = 0;

  add(order: number, segment: string, notes: NoteTree): void {
    this.#members.push({ order, segment, notes });
    this.#inMembers += notes.size;
  }

  /** The number of notes. */
  get size(): number {
    return this.#inMembers + (this.own === undefined ? 0 : 1);
  }

  /** All notes with their paths, those of the value itself first; bounded. */
  get flags(): readonly ParseFlag[] {
    const flags: ParseFlag[] = [];
    this.#collect('', flags);
    return flags;
  }

  #collect(path: string, flags: ParseFlag[]): void {
    if (this.own !== undefined && flags.length < MAX_NOTES) flags.push({ ...this.own, path });
    for (const { segment, notes } of this.#members.toSorted((a, b) => a.order - b.order)) {
      if (flags.length >= MAX_NOTES) return;
      notes.#collect(joinPath(path, segment), flags);
    }
  }
}
