import { invariant } from '../../../base/invariant.ts';
import type { Place, TypedContainer } from '../fast-path/typed-container.ts';
import type { ValueNode } from '../text/value-node.ts';
import type { Coerced, Outcome } from './outcome.ts';
import type { Partial } from './partial.ts';
import { Plan } from './plan.ts';

/** A recursive alias: stands for a plan that is compiled while it is already referred to. */
export class AliasPlan extends Plan {
  readonly name: string;
  #target: Plan | undefined = undefined;

  constructor(name: string) {
    super();
    this.name = name;
  }

  setTarget(target: Plan): void {
    this.#target = target;
    this.doneOnly = target.doneOnly;
  }

  get target(): Plan {
    invariant(this.#target !== undefined, `alias ${this.name} has no target`);
    return this.#target;
  }

  override exact(source: string): string | undefined {
    return this.target.exact(source);
  }

  override openContainer(bracket: number, place: Place): TypedContainer | undefined {
    return this.target.openContainer(bracket, place);
  }

  override mayBreakAssert(seen?: Set<Plan>): boolean {
    return this.target.mayBreakAssert(seen);
  }

  override accepts(json: string): boolean {
    return this.target.accepts(json);
  }

  override mayBegin(first: number): boolean {
    return this.target.mayBegin(first);
  }

  override showText(json: string): string | undefined {
    return this.target.showText(json);
  }

  override showsOpen(bracket: number): boolean {
    return this.target.showsOpen(bracket);
  }

  cast(node: ValueNode): Coerced | undefined {
    return this.target.cast(node);
  }

  coerce(node: ValueNode): Outcome {
    return this.target.coerce(node);
  }

  override fallback(): Coerced | undefined {
    return this.target.fallback();
  }

  override blank(begun: boolean): string {
    return this.target.blank(begun);
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return this.target.startsWith(kind);
  }

  override affinity(node: ValueNode, depth = 0): number {
    return this.target.affinity(node, depth);
  }

  protected override partial(node: ValueNode): Partial {
    return this.target.show(node);
  }
}
