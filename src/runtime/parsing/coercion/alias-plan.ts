import { invariant } from '../../../base/invariant.ts';
import type { ExactScanner } from '../text/exact-scanner.ts';
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
    this.hasAssert = target.hasAssert;
  }

  get target(): Plan {
    invariant(this.#target !== undefined, `alias ${this.name} has no target`);
    return this.#target;
  }

  override exact(scanner: ExactScanner): string | undefined {
    return this.target.exact(scanner);
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
