import { LRUCache } from 'lru-cache';
import { isJsonObject, ownValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { joinPath } from '../../base/value-path.ts';
import type { Failure } from '../../schema/failure.ts';
import type { FunctionType, Program } from '../../schema/program.ts';
import { typeRequestHash, type TypeOutcome, type TypeRefusal, type TypeSource } from '../../schema/type-extension.ts';
import type { Violation } from '../../schema/violation.ts';
import type { ArgumentValidators } from '../arguments/load-validators.ts';
import { invalidOptions, sentOptions, oversizeFaults } from './call-options.ts';
import { createExtendedTypes, type CallTypes } from './call-types.ts';

/**
 * The pairs of a function and a `type_builder` that a process keeps. Callers usually build their types once. A compiled parser and
 * prompt of the largest size takes about a megabyte.
 */
const KEPT = { max: 64, maxSize: 2 ** 20 };

/** The characters of a `type_builder` as JSON: room for the JSON Schemas of a snippet of the largest size. */
const MAX_CHARACTERS = 256 * 1024;

/** The types that a request asked for, or the reason why there are none. */
export type RequestedTypes = Result<CallTypes, Failure>;

type Compiled = Result<CallTypes, readonly Violation[]>;

/** The types of requests with a `type_builder`, compiled once for each function and each text of it. */
export class DynamicTypes {
  readonly #program: Program;
  readonly #validators: ArgumentValidators;
  readonly #source: TypeSource | undefined;
  readonly #known = new LRUCache<string, Compiled>(KEPT);
  /** The compilations under way, by caller: a refusal concerns one of them. */
  readonly #arriving = new Map<string, Promise<Compiled | TypeRefusal>>();

  /** Without `source`, requests cannot extend types. */
  constructor(program: Program, validators: ArgumentValidators, source: TypeSource | undefined) {
    this.#program = program;
    this.#validators = validators;
    this.#source = source;
  }

  /**
   * Returns the types that a request asks for, or a promise if another process compiles them. Undefined if it asks for none, or if its
   * options are refused for other reasons. Rejects only because of a bug.
   */
  load(
    fn: FunctionType,
    body: unknown,
    origin?: { readonly network?: string },
  ): RequestedTypes | Promise<RequestedTypes> | undefined {
    const source = this.#source;
    const asked = source === undefined ? undefined : builderIn(body);
    if (source === undefined || asked === undefined) return undefined;
    const { path, builder } = asked;
    if (builder.length > MAX_CHARACTERS) return refused(path, TOO_LONG);
    const key = typeRequestHash({ functionName: fn.name, builder });
    const compiled = this.#known.get(key) ?? this.#compile({ fn, builder, key, source, caller: origin?.network });
    return compiled instanceof Promise ? compiled.then((types) => outcomeOf(types, path)) : outcomeOf(compiled, path);
  }

  #compile({ fn, builder, key, source, caller }: Compilation): Compiled | Promise<Compiled | TypeRefusal> {
    const ofCaller = `${key} ${caller ?? ''}`;
    const known = this.#arriving.get(ofCaller);
    if (known !== undefined) return known;
    const outcome = source({ functionName: fn.name, builder }, caller);
    if (!(outcome instanceof Promise)) return this.#keep(fn, key, outcome);
    const arriving = outcome
      .then(
        (types) => (typeof types === 'string' ? types : (this.#known.get(key) ?? this.#keep(fn, key, types))),
        (): TypeRefusal => 'full',
      )
      .finally(() => this.#arriving.delete(ofCaller));
    this.#arriving.set(ofCaller, arriving);
    return arriving;
  }

  #keep(fn: FunctionType, key: string, outcome: TypeOutcome): Compiled {
    const types = outcome.ok ? ok(createExtendedTypes(this.#program, fn, outcome.value, this.#validators)) : outcome;
    this.#known.set(key, types, { size: JSON.stringify(outcome).length });
    return types;
  }
}

interface Compilation {
  readonly fn: FunctionType;
  readonly builder: string;
  readonly key: string;
  readonly source: TypeSource;
  readonly caller: string | undefined;
}

/** Adds the types of a request to its options. Fails with the faults of both. */
export function withTypes<Options>(
  options: Result<Options, Failure>,
  types: RequestedTypes | undefined,
): Result<Options & { readonly types: CallTypes | undefined }, Failure> {
  if (types === undefined || types.ok) {
    return options.ok ? ok({ ...options.value, types: types?.value }) : options;
  }
  if (options.ok || types.failure.code !== 'invalid_options') return types;
  if (options.failure.code !== 'invalid_options') return options;
  return err(invalidOptions([...options.failure.details, ...types.failure.details]));
}

/** The path and the JSON text of the `type_builder` of a request; undefined if there is none, or not one that can be read. */
function builderIn(body: unknown): { readonly path: string; readonly builder: string } | undefined {
  const sent = isJsonObject(body) ? sentOptions(body) : undefined;
  if (sent === undefined || sent.others.length > 0 || !isJsonObject(sent.value)) return undefined;
  const { key, value } = sent;
  const builder = ownValue(value, 'type_builder') ?? undefined;
  if (builder === undefined || oversizeFaults(value, key).all.length > 0) return undefined;
  return { path: `${key}.type_builder`, builder: JSON.stringify(builder) };
}

function outcomeOf(compiled: Compiled | TypeRefusal, path: string): RequestedTypes {
  if (typeof compiled === 'string') return err(compiled === 'share' ? SHARE_USED : BUSY);
  return compiled.ok ? compiled : refused(path, compiled.failure);
}

function refused(path: string, faults: readonly Violation[]): RequestedTypes {
  return err(invalidOptions(faults.map((fault) => ({ ...fault, path: joinPath(path, fault.path) }))));
}

const TOO_LONG: readonly Violation[] = [{ path: '', message: `has more than ${MAX_CHARACTERS} characters as JSON` }];

const BUSY: Failure = {
  code: 'overloaded',
  message: 'Too many requests with a "type_builder" wait for compilation: try again.',
  retryAfterSeconds: 1,
};

const SHARE_USED: Failure = {
  code: 'overloaded',
  message:
    'Requests from your address that wait for the types of a "type_builder" have reached its share (--caller-share): try again.',
  retryAfterSeconds: 1,
};
