import type { AssignmentTarget, Statement } from '../../../schema/template.ts';
import { type Evaluate, type Frame, UNSET } from '../rendering.ts';

/** Counts the slots of one activation. Blocks of one template share the array; each name has its own slot. */
class SlotCounter {
  count = 0;
}

interface Variable {
  readonly slot: number;
  /** Assigned by `set`, so a read can come before. */
  readonly mayBeUnset: boolean;
}

/** The names visible in one part of a template, resolved to slots while it is compiled. */
export class SlotScope {
  readonly #variables = new Map<string, Variable>();
  readonly #outer: SlotScope | undefined;
  readonly #slots: SlotCounter;
  /** Resolves the names that no scope declares. */
  readonly #global: (name: string) => Evaluate;

  private constructor(outer: SlotScope | undefined, slots: SlotCounter, global: (name: string) => Evaluate) {
    this.#outer = outer;
    this.#slots = slots;
    this.#global = global;
  }

  static root(global: (name: string) => Evaluate): SlotScope {
    return new SlotScope(undefined, new SlotCounter(), global);
  }

  /** Opens a block of the same activation: the body of a `for` or `with`. */
  block(): SlotScope {
    return new SlotScope(this, this.#slots, this.#global);
  }

  /** Opens the body of a macro, which has its own activation. */
  activation(): SlotScope {
    return new SlotScope(this, new SlotCounter(), this.#global);
  }

  /** Slots of the activation so far; final when the whole activation is compiled. */
  get slotCount(): number {
    return this.#slots.count;
  }

  declare(name: string): number {
    return this.#add(name, false).slot;
  }

  /** Declares the names that the `set` and `macro` statements of a body assign, so that reads find them. Returns the new slots. */
  declareAssigned(body: readonly Statement[]): readonly number[] {
    const slots: number[] = [];
    for (const name of assignedNames(body)) {
      if (!this.#variables.has(name)) slots.push(this.#add(name, true).slot);
    }
    return slots;
  }

  /** Returns the slot that `set` assigns in this block. */
  slotOf(name: string): number {
    return (this.#variables.get(name) ?? this.#add(name, true)).slot;
  }

  resolve(name: string): Evaluate {
    const variable = this.#variables.get(name);
    if (variable === undefined) return this.#resolveOutside(name);
    const { slot } = variable;
    if (!variable.mayBeUnset) return (frame) => frame.slots[slot];
    const outside = this.#resolveOutside(name);
    return (frame) => {
      const value = frame.slots[slot];
      return value === UNSET ? outside(frame) : value;
    };
  }

  #resolveOutside(name: string): Evaluate {
    if (this.#outer === undefined) return this.#global(name);
    const outside = this.#outer.resolve(name);
    return this.#outer.#slots === this.#slots ? outside : (frame) => outside(parentOf(frame));
  }

  #add(name: string, mayBeUnset: boolean): Variable {
    const variable = { slot: this.#slots.count, mayBeUnset };
    this.#slots.count += 1;
    this.#variables.set(name, variable);
    return variable;
  }
}

function parentOf(frame: Frame): Frame {
  return frame.parent ?? frame;
}

/** Names that this body assigns, except in bodies that have a scope of their own. */
function* assignedNames(body: readonly Statement[]): Generator<string> {
  for (const statement of body) {
    switch (statement.kind) {
      case 'set':
        yield* namesOf(statement.target);
        break;
      case 'set-block':
        yield* namesOf(statement.target);
        yield* assignedNames(statement.body);
        break;
      case 'macro':
        yield statement.macro.name;
        break;
      case 'if':
        for (const branch of statement.branches) yield* assignedNames(branch.body);
        yield* assignedNames(statement.otherwise);
        break;
      case 'filter-block':
        yield* assignedNames(statement.body);
        break;
      case 'text':
      case 'print':
      case 'for':
      case 'with':
      case 'call-block':
        break;
    }
  }
}

function* namesOf(target: AssignmentTarget): Generator<string> {
  if (target.kind === 'name') yield target.name;
  else if (target.kind === 'names') for (const item of target.items) yield* namesOf(item);
}
