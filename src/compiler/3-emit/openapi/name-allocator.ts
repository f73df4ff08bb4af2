/**
 * Allocates names that differ from one another even without case and punctuation: generators turn
 * `Foo_stream`, `fooStream` and `FooStream` into one identifier.
 */
export class NameAllocator {
  readonly #taken = new Set<string>();

  /** Reserves a name as it is; for names that are already distinct in the definitions. */
  reserve(name: string): void {
    this.#taken.add(folded(name));
  }

  /** The name, or the name with the first number from 2 that makes it unique. */
  allocate(name: string): string {
    let candidate = name;
    for (let number = 2; this.#taken.has(folded(candidate)); number += 1) candidate = `${name}${number}`;
    this.reserve(candidate);
    return candidate;
  }
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');
}
