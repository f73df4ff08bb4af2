import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { Type } from '../../schema/type.ts';
import { namesIn, partsOf, reachedFrom, withInside } from '../../schema/type-graph.ts';

type Union = Extract<Type, { readonly kind: 'union' }>;

/**
 * Finds types for which trying one union member after the other costs time exponential in the depth of the value:
 * a union with two members of one JSON shape that both lead back to it, as in
 * `class A { next A | B | null }`, `class B { next A | B | null }`. A literal field with another value in each class
 * tells the members apart at once, so such unions are harmless.
 */
export class AmbiguousRecursion {
  readonly #index: DefinitionIndex;
  readonly #reached = new Map<string, ReadonlySet<string>>();
  readonly #ambiguous: ReadonlySet<string>;

  constructor(index: DefinitionIndex) {
    this.#index = index;
    const names = [...index.classes.keys(), ...index.aliases.keys()];
    this.#ambiguous = new Set(names.filter((name) => this.#isAmbiguous(name)));
  }

  /** True when a parameter of the function can hold a value of such a type. */
  reachableFrom(fn: FunctionType): boolean {
    if (this.#ambiguous.size === 0) return false;
    return fn.parameters.some(({ type }) => {
      const reached = this.#reachedFrom([type]);
      return [...reached].some((name) => this.#ambiguous.has(name));
    });
  }

  #isAmbiguous(name: string): boolean {
    return partsOf(name, this.#index)
      .flatMap(withInside)
      .filter((type) => type.kind === 'union')
      .some((union) => {
        const named = this.#flat(union).filter((member) => namesIn(member).length > 0);
        // Asked first, since what a member reaches takes long to find among thousands of classes.
        if (!sameShapeTwice(named)) return false;
        const back = named.filter((member) => this.#reachedFrom([member]).has(name));
        return sameShapeTwice(back) && !this.#toldApart(back);
      });
  }

  /** Members with recursive aliases replaced by what they stand for, once each. */
  #flat(union: Union, seen = new Set<string>()): readonly Type[] {
    return union.members.flatMap((member) => {
      if (member.kind === 'union') return this.#flat(member, seen);
      if (member.kind !== 'alias') return [member];
      if (seen.has(member.name)) return [];
      seen.add(member.name);
      const target = this.#index.aliases.get(member.name)?.type;
      if (target === undefined) return [];
      return target.kind === 'union' ? this.#flat(target, seen) : [target];
    });
  }

  #toldApart(members: readonly Type[]): boolean {
    const tags = members.map((member) => this.#tags(member));
    const [first] = tags;
    return [...(first?.keys() ?? [])].some((field) => {
      const values = tags.map((tag) => tag.get(field));
      return !values.includes(undefined) && new Set(values).size === values.length;
    });
  }

  #tags(type: Type): ReadonlyMap<string, unknown> {
    const fields = type.kind === 'class' ? (this.#index.classes.get(type.name)?.fields ?? []) : [];
    return new Map(
      fields.flatMap((field) => (field.type.kind === 'literal' ? [[field.name, field.type.value] as const] : [])),
    );
  }

  /** Names of all classes and aliases that can occur in a value of one of the types. */
  #reachedFrom(types: readonly Type[]): ReadonlySet<string> {
    const reached = new Set<string>();
    for (const name of types.flatMap(namesIn)) {
      for (const one of this.#closure(name)) reached.add(one);
    }
    return reached;
  }

  #closure(name: string): ReadonlySet<string> {
    let reached = this.#reached.get(name);
    if (reached === undefined) this.#reached.set(name, (reached = reachedFrom([name], this.#index)));
    return reached;
  }
}

function sameShapeTwice(members: readonly Type[]): boolean {
  const lists = members.filter((member) => member.kind === 'list').length;
  return lists > 1 || members.length - lists > 1;
}
