import { compileFunction } from 'node:vm';
import { InternalError, invariant } from '../../base/invariant.ts';
import type { FitsType, Type } from '../../schema/type.ts';
import { typeText } from '../../schema/type-graph.ts';

/** Answers that validators of recursive unions remember during one check. V8 collects a WeakMap of millions in minutes. */
type Memory = Map<Validator, Map<object, boolean>>;

/** True when the value fits. It recurses with the value, so a value that is too deep throws a RangeError. */
export type Validator = (this: Memory | undefined, value: unknown) => boolean;

/** The validators of one function, as the compiler emitted them. */
export interface LoadedValidators {
  /** The whole argument object. */
  readonly accepts: Validator;
  /** Every type that the arguments can contain, by its text. */
  readonly types: ReadonlyMap<string, Validator>;
}

/** Runs the module of a function's validators. It sees `exports` and nothing else of this program. */
export function loadValidators(source: string): LoadedValidators {
  const exported: { -readonly [Key in keyof LoadedValidators]?: LoadedValidators[Key] } = {};
  compileFunction(source, ['exports'], { filename: 'svc-validators.cjs' })(exported);
  const { accepts, types } = exported;
  invariant(accepts !== undefined && types !== undefined, 'a module of validators exports nothing');
  return { accepts, types };
}

/** Returns the source of a function's validators: at once in process, later where another process compiles it. */
export type ValidatorSource = (functionName: string) => string | Promise<string>;

/** The validators of a program's functions, each loaded on first use. */
export class ArgumentValidators {
  readonly #source: ValidatorSource;
  readonly #loaded = new Map<string, FunctionValidators>();
  readonly #loading = new Map<string, Promise<void>>();

  constructor(source: ValidatorSource) {
    this.#source = source;
  }

  /** Loads the validators of a function; undefined if they are loaded. Rejects if their source is not available now. */
  load(functionName: string): Promise<void> | undefined {
    if (this.#loaded.has(functionName)) return undefined;
    const loading = this.#loading.get(functionName);
    if (loading !== undefined) return loading;
    const source = this.#source(functionName);
    if (typeof source === 'string') {
      this.#add(functionName, source);
      return undefined;
    }
    const arriving = source
      .then((text) => this.#add(functionName, text))
      .finally(() => this.#loading.delete(functionName));
    this.#loading.set(functionName, arriving);
    return arriving;
  }

  /** The validators of a function. Throws if the caller has to await `load` first. */
  of(functionName: string): FunctionValidators {
    const validators = this.#loaded.get(functionName);
    if (validators !== undefined) return validators;
    if (this.load(functionName) === undefined) return this.of(functionName);
    throw new InternalError(`the validators of ${functionName} are not loaded`);
  }

  #add(functionName: string, source: string): void {
    this.#loaded.set(functionName, new FunctionValidators(loadValidators(source)));
  }
}

/** Decides whether values fit the types that the arguments of a function can contain. Nothing else in svc decides this. */
export class FunctionValidators {
  readonly #validators: LoadedValidators;
  readonly #byType = new Map<Type, Validator>();

  constructor(validators: LoadedValidators) {
    this.#validators = validators;
  }

  /** True when the argument object fits the signature of the function. */
  accepts(args: unknown): boolean {
    return answer(this.#validators.accepts, args, undefined);
  }

  /** Creates a check for the parts of one argument object, which remembers answers. */
  createFits(): FitsType {
    const memory: Memory = new Map();
    return (type, value) => answer(this.#of(type), value, memory);
  }

  #of(type: Type): Validator {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const validator = this.#validators.types.get(typeText(type));
    invariant(validator !== undefined, `no validator of ${typeText(type)}`);
    this.#byType.set(type, validator);
    return validator;
  }
}

/** A value that is too deep for the stack does not fit; only callers in process can pass one. */
function answer(validator: Validator, value: unknown, memory: Memory | undefined): boolean {
  try {
    return validator.call(memory, value);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
