/** Something that stands in at most one roster at a time. */
export interface RosterMember {
  /** Its place there, -1 while it stands in none. Only the roster changes it. */
  rosterPlace: number;
}

/**
 * A set for what comes and goes with every request. A `Set` links each table that it has outgrown to the next one, so once
 * one of them has reached V8's old generation, that one keeps all later ones and what stood in them until the next full
 * collection: about a third of all garbage survived in that way. A roster lets go of its members at once.
 */
export class Roster<Member extends RosterMember> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Changes nothing when the member stands in it already. */
  add(member: Member): void {
    if (member.rosterPlace < 0) member.rosterPlace = this.#members.push(member) - 1;
  }

  /** Changes nothing when the member stands in no roster. */
  delete(member: Member): void {
    const place = member.rosterPlace;
    if (place < 0) return;
    member.rosterPlace = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[place] = last;
    last.rosterPlace = place;
  }

  /** Those who stand in it now, in no particular order; they may leave while the list is walked. */
  list(): readonly Member[] {
    return [...this.#members];
  }
}
