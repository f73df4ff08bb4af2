/**
 * Finds the names that lead back to themselves, each with its group: the names that it leads to and that lead back to it.
 * `edges` maps every name, in the order of declaration, to the names that it mentions.
 *
 * Existing prompts were tuned with this order within a group: a depth-first search visits the names, and those that each
 * name mentions, in the order of declaration. A group lists its names in the order of the search, rotated so that the one
 * declared first comes first.
 */
export function recursiveGroups(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const search = new GroupSearch(edges);
  for (const name of edges.keys()) search.visit(name);
  return search.groups;
}

/** A name on the path of the search, and the names it mentions that are still to be visited. */
interface Step {
  readonly name: string;
  readonly next: Iterator<string>;
}

/** Tarjan's algorithm for strongly connected components, without recursion: a chain of definitions can be long. */
class GroupSearch {
  readonly groups = new Map<string, readonly string[]>();
  readonly #edges: ReadonlyMap<string, readonly string[]>;
  readonly #positions: ReadonlyMap<string, number>;
  /** The number of names met before each name. */
  readonly #met = new Map<string, number>();
  /** The position in `#met` of the earliest name that each open name leads back to. */
  readonly #earliest = new Map<string, number>();
  /** The names whose group is not complete yet, in the order in which they were met. */
  readonly #open: string[] = [];

  constructor(edges: ReadonlyMap<string, readonly string[]>) {
    this.#edges = edges;
    this.#positions = new Map([...edges.keys()].map((name, position) => [name, position]));
  }

  visit(root: string): void {
    if (this.#met.has(root)) return;
    const path = [this.#enter(root)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { done, value } = step.next.next();
      if (done === true) {
        path.pop();
        this.#leave(step.name, path.at(-1)?.name);
      } else if (!this.#met.has(value)) path.push(this.#enter(value));
      else if (this.#earliest.has(value)) this.#leadsBack(step.name, this.#met.get(value));
    }
  }

  #enter(name: string): Step {
    this.#earliest.set(name, this.#met.size);
    this.#met.set(name, this.#met.size);
    this.#open.push(name);
    const mentioned = (this.#edges.get(name) ?? []).filter((other) => this.#edges.has(other));
    return { name, next: mentioned.toSorted((a, b) => this.#position(a) - this.#position(b)).values() };
  }

  #leave(name: string, parent: string | undefined): void {
    const earliest = this.#earliest.get(name);
    if (earliest === this.#met.get(name)) this.#close(this.#open.splice(this.#open.indexOf(name)));
    else if (parent !== undefined) this.#leadsBack(parent, earliest);
  }

  #leadsBack(name: string, to = Infinity): void {
    this.#earliest.set(name, Math.min(this.#earliest.get(name) ?? Infinity, to));
  }

  #close(names: readonly string[]): void {
    for (const name of names) this.#earliest.delete(name);
    const [only = ''] = names;
    if (names.length === 1 && this.#edges.get(only)?.includes(only) !== true) return;
    const first = names.indexOf(names.reduce((a, b) => (this.#position(b) < this.#position(a) ? b : a)));
    const group = [...names.slice(first), ...names.slice(0, first)];
    for (const name of names) this.groups.set(name, group);
  }

  #position(name: string): number {
    return this.#positions.get(name) ?? Infinity;
  }
}
