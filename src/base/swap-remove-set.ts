/** A member of at most one `SwapRemoveSet` at a time. */
export interface SwapRemoveMember {
  /** Index in the set, or -1 outside of any. Only the set changes it. */
  setIndex: number;
}

/**
 * An unordered set for objects that come and go with every request: removing a member moves the last one into its place.
 * A `Set` links each table that it outgrows to the next one. Once such a table reaches V8's old generation, it retains all
 * later tables and their members until the next full collection: with `Set`, about a third of all garbage survived.
 */
export class SwapRemoveSet<Member extends SwapRemoveMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Does nothing if the object is a member already. */
  add(member: Member): void {
    if (member.setIndex >= 0) return;
    member.setIndex = this.#members.length;
    this.#members[member.setIndex] = member;
  }

  /** Does nothing if the object is not a member. */
  delete(member: Member): void {
    const index = member.setIndex;
    if (index < 0) return;
    member.setIndex = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[index] = last;
    last.setIndex = index;
  }

  /** A copy of the members, in no particular order, so that a caller can delete members while it iterates. */
  list(): readonly Member[] {
    return [...this.#members];
  }
}
