/** Reads one list or object at a time, from text that may arrive in pieces of any size. */
export interface ValueSource<T> {
  /** The outermost value; undefined until its bracket has been read. */
  readonly root: T | undefined;
  /** The value is complete, or given up. */
  readonly done: boolean;
  /** The value cannot be read, nor what comes after it. */
  readonly gaveUp: boolean;
  /** Begins another value. */
  restart(inFence: boolean): void;
  /**
   * Reads on from `from`. Returns the position up to which the text is used up; what is left has to be given again,
   * in front of the next piece. `isLast`: no more text will come.
   */
  read(text: string, from: number, isLast: boolean): number;
}
