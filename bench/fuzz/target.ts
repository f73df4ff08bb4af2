import type { JsonValue } from '../../src/base/json.ts';
import type { Random } from '../recover/random.ts';

/** A broken invariant. */
export interface Fault {
  /** The invariant, the same for every input that breaks it in this way. */
  readonly rule: string;
  readonly detail: string;
}

/** The result of one input. */
export interface Outcome {
  readonly fault?: Fault | undefined;
  /** The kind of result, for targets outside this process: an input with a new one stays in the corpus. */
  readonly trait?: string;
}

/** A part of svc, the inputs for it, and its invariants. An input is JSON, so that it can be printed, mutated and minimised. */
export interface Target<Input extends JsonValue = JsonValue> {
  readonly name: string;
  /** Strings that mutations insert. */
  readonly dictionary: readonly string[];
  /** The initial inputs. */
  readonly seeds: readonly Input[];
  generate(random: Random): Input;
  /** Checks all invariants. An exception is a fault too. */
  check(input: Input): Outcome | Promise<Outcome>;
  /** The scripts whose coverage decides which inputs stay in the corpus: those whose URL contains one of these texts. */
  readonly covers?: readonly string[];
  /** The most steps (about a line, or a character that a built-in function reads) for an input. */
  maxSteps?(input: Input): number;
  /** Mutations can change the type of a value and the keys of an object. */
  readonly free?: true;
  /** The number of inputs that are checked at the same time; 1 by default. */
  readonly atOnce?: number;
  /** The most checks to make a failing input smaller, for targets whose checks are slow. */
  readonly minimiseChecks?: number;
  /** Counts of other findings, by name, for the results. */
  readonly counts?: ReadonlyMap<string, number>;
  close?(): Promise<void>;
}

/** Returns the outcome of an input; an exception is the fault `throws …`, at the first line of this project in its stack. */
export async function outcomeOf<Input extends JsonValue>(target: Target<Input>, input: Input): Promise<Outcome> {
  try {
    return await target.check(input);
  } catch (error) {
    if (!(error instanceof Error)) return { fault: { rule: 'throws', detail: String(error) } };
    const at = /\/src\/([^\s:]+):/u.exec(error.stack ?? '')?.[1] ?? 'the target';
    return { fault: { rule: `throws ${error.name} in ${at}`, detail: error.stack ?? error.message } };
  }
}

/** Returns the fault as an outcome, if there is one. */
export function broken(rule: string, detail: string): Outcome {
  return { fault: { rule, detail: detail.slice(0, 4_000) } };
}

const PROTOTYPE_KEYS = Reflect.ownKeys(Object.prototype).length;

/** The fault that an input has added a key to the prototype of objects. */
export function pollution(): Outcome | undefined {
  const polluted = Reflect.ownKeys(Object.prototype).length !== PROTOTYPE_KEYS;
  return polluted ? broken('pollutes a prototype', Reflect.ownKeys(Object.prototype).map(String).join()) : undefined;
}
