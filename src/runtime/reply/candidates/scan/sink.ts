import type { Escapes } from './escapes.ts';
import type { ReplyNode } from './reply-node.ts';

/** The most lists and objects, from the innermost one, that are compared with the text ahead. */
export const MAX_COMPARED = 16;

/**
 * Receives the parts of one list or object in the order of the text. A sink that rejects the value sets `gaveUp`; methods
 * that return a boolean then return false.
 */
export interface Sink<T> {
  /** The outermost value; undefined until its bracket has been read. */
  readonly root: T | undefined;
  /** The number of lists and objects that are open. */
  readonly depth: number;
  /** True if the innermost of them is an object. */
  readonly inObject: boolean;
  readonly gaveUp: boolean;
  /** The brackets that close the innermost lists and objects, the innermost first: at most MAX_COMPARED. */
  readonly closers: string;
  /** The key that probably comes next. */
  readonly likely: LikelyKey | undefined;
  /** Prepares for another value. */
  clear(): void;
  open(bracket: number): boolean;
  /** Closes the innermost list or object that matches the bracket. Returns false if there is none. */
  close(bracket: number): boolean;
  /** Closes the innermost list or object, whatever its kind. */
  closeInnermost(): void;
  /** `repairs`: bits of REPAIR. */
  key(key: string, repairs: number): boolean;
  /** Takes a complete string between double quotes: the part of the text between the two offsets, quotes included. */
  string(text: string, from: number, to: number, escapes: Escapes): boolean;
  /** Takes a complete token without quotes. */
  token(source: string): boolean;
  /** Takes a scalar whose end has not arrived. `first`: its first character. */
  begin(node: ReplyNode, first: number): boolean;
  /** Takes more of a scalar: its node contains all that has arrived. */
  grow(node: ReplyNode): void;
  /** Takes the end of a scalar, which is complete. */
  end(node: ReplyNode): boolean;
  /**
   * Prepares for an object in the place of a key: closes the object that is the last member of a list, or puts the last
   * member of an object into a list, if it is an object. Returns false for any other.
   */
  nextItem(): boolean;
  /**
   * Makes the last member of a list, a string, the next key: of the list itself if that is its only member, of another
   * object in the list, or of the object around the list. Returns false if none of them can have it.
   */
  itemToKey(): boolean;
  /**
   * Opens the list again that is the last member of the innermost object: it was closed too early. Returns false for any
   * other member.
   */
  reopen(): boolean;
  /** Opens the whole value again: it goes on after its closing bracket. */
  reopenRoot(): boolean;
  /** True if the members of the innermost list are lists. */
  readonly holdsLists: boolean;
  /** Takes back the last member of a list. */
  dropLast(): void;
  /** Records a repair between the members of the innermost list or object. */
  addRepair(repair: number): void;
  /** Ends the value as incomplete, because the text ends before it. */
  giveUp(): void;
}

/** A key, and its spelling in JSON without spaces: `"key":`. */
export interface LikelyKey {
  readonly key: string;
  readonly writtenKey: string;
}
