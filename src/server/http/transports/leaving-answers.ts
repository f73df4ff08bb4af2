/** Answers that are complete and that their clients have not taken yet: a drain waits for them. */
export class LeavingAnswers {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Gives what to call once, when the answer left or its client did; calling it again does nothing. */
  begin(): () => void {
    this.#count += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#count -= 1;
    };
  }
}
