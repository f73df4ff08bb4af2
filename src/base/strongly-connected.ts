interface Visit {
  readonly name: string;
  readonly targets: readonly string[];
  next: number;
  low: number;
  readonly index: number;
}

/**
 * Returns the groups of names that reach each other along `edgesOf`, in the order of `names`. A single name is a group only
 * if it has an edge to itself. Tarjan's algorithm with an explicit stack, because a chain of definitions can be long.
 */
export function stronglyConnected(
  names: readonly string[],
  edgesOf: (name: string) => readonly string[],
): readonly (readonly string[])[] {
  const order = new Map(names.map((name, index) => [name, index]));
  const place = (name: string | undefined): number => order.get(name ?? '') ?? 0;
  const groups = groupsInSearchOrder(names, edgesOf).map((group) => group.toSorted((a, b) => place(a) - place(b)));
  return groups.toSorted((a, b) => place(a[0]) - place(b[0]));
}

/** Returns the same groups in the order of a depth-first search, each with its names in the order in which the search meets them. */
export function groupsInSearchOrder(
  names: readonly string[],
  edgesOf: (name: string) => readonly string[],
): readonly (readonly string[])[] {
  const search = new Search(names, edgesOf);
  search.run();
  return search.groups;
}

/** Returns all of `names`, each after the names that it reaches, except for names that reach each other. */
export function dependenciesFirst(
  names: readonly string[],
  edgesOf: (name: string) => readonly string[],
): readonly string[] {
  const search = new Search(names, edgesOf);
  search.run();
  return search.left;
}

class Search {
  /** Names in the order in which the search left them. */
  readonly left: string[] = [];
  /** The groups in the order in which the search completed them, with their names in the order in which it met them. */
  readonly groups: string[][] = [];
  readonly #names: readonly string[];
  readonly #edgesOf: (name: string) => readonly string[];
  readonly #visits = new Map<string, Visit>();
  readonly #open: string[] = [];
  readonly #isOpen = new Set<string>();

  constructor(names: readonly string[], edgesOf: (name: string) => readonly string[]) {
    this.#names = names;
    this.#edgesOf = edgesOf;
  }

  run(): void {
    for (const name of this.#names) if (!this.#visits.has(name)) this.#explore(name);
  }

  #explore(root: string): void {
    const path = [this.#enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const target = visit.targets[visit.next];
      visit.next += 1;
      if (target === undefined) {
        path.pop();
        this.#leave(visit, path.at(-1));
      } else {
        const seen = this.#visits.get(target);
        if (seen === undefined) path.push(this.#enter(target));
        else if (this.#isOpen.has(target)) visit.low = Math.min(visit.low, seen.index);
      }
    }
  }

  #enter(name: string): Visit {
    const index = this.#visits.size;
    const visit: Visit = { name, targets: this.#edgesOf(name), next: 0, low: index, index };
    this.#visits.set(name, visit);
    this.#open.push(name);
    this.#isOpen.add(name);
    return visit;
  }

  #leave(visit: Visit, parent: Visit | undefined): void {
    this.left.push(visit.name);
    if (parent !== undefined) parent.low = Math.min(parent.low, visit.low);
    if (visit.low !== visit.index) return;
    const group = this.#open.splice(this.#open.lastIndexOf(visit.name));
    for (const name of group) this.#isOpen.delete(name);
    if (group.length > 1 || visit.targets.includes(visit.name)) this.groups.push(group);
  }
}
