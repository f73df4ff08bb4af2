import { messageOf } from '../base/invariant.ts';
import type { Logger } from '../logging/logger.ts';
import type { TypeOutcome, TypeRefusal, TypeRequest } from '../schema/type-extension.ts';
import { CallerShares, placesOf } from './admission.ts';
import type { FromWorker } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** The requests of all workers that can wait for their types. Compiling the largest types takes 0.5 s, and a worker waits 30 s. */
export const WAITING_TYPES = 64;

/** Compiles argument validators and types for workers. */
export interface ProgramPlane {
  /** Returns the source of a function's argument validators. */
  readonly validators: (functionName: string) => Promise<string>;
  /** Compiles the types of a request. Resolves with undefined if too many requests wait. */
  readonly types: (request: TypeRequest) => Promise<TypeOutcome | undefined>;
}

/** Answers the messages of workers that need the compiler of their program. */
export class ProgramAnswers {
  readonly #programs: ReadonlyMap<number, ProgramPlane>;
  readonly #logger: Logger;
  readonly #shares: CallerShares;
  /** The compilations of types under way: workers often ask for the same ones at the same time. */
  readonly #compiling = new Map<string, Promise<TypeOutcome | undefined>>();

  /** `programs`: by generation. `callerShare`: the fraction of `WAITING_TYPES` that one caller can have. */
  constructor(programs: ReadonlyMap<number, ProgramPlane>, logger: Logger, callerShare: number) {
    this.#programs = programs;
    this.#logger = logger;
    this.#shares = new CallerShares(placesOf(WAITING_TYPES, callerShare));
  }

  async validators(handle: WorkerHandle, { id, functionName }: FromWorker<'load-validators'>): Promise<void> {
    try {
      const source = await this.#programs.get(handle.generation)?.validators(functionName);
      handle.send({ type: 'validators', id, ...(source !== undefined && { source }) });
    } catch (error) {
      this.#logger.error({ function: functionName, err: error }, 'a bug: validators cannot be compiled');
      handle.send({ type: 'validators', id, failure: messageOf(error) });
    }
  }

  async types(handle: WorkerHandle, { id, request, caller }: FromWorker<'extend-types'>): Promise<void> {
    const outcome = await this.#compile(handle.generation, request, caller);
    handle.send({ type: 'extended-types', id, outcome });
  }

  /** A request that waits for a compilation under way takes nothing from the share of its caller. */
  async #compile(
    generation: number,
    request: TypeRequest,
    caller: string | undefined,
  ): Promise<TypeOutcome | TypeRefusal> {
    const key = `${generation} ${request.functionName} ${request.builder}`;
    const known = this.#compiling.get(key);
    if (known !== undefined) return (await known) ?? 'full';
    if (caller !== undefined && !this.#shares.take(caller, 1)) return 'share';
    const compiling = this.#attempt(generation, request).finally(() => {
      this.#compiling.delete(key);
      if (caller !== undefined) this.#shares.give(caller, 1);
    });
    this.#compiling.set(key, compiling);
    return (await compiling) ?? 'full';
  }

  /** Never rejects. */
  async #attempt(generation: number, request: TypeRequest): Promise<TypeOutcome | undefined> {
    try {
      return await this.#programs.get(generation)?.types(request);
    } catch (error) {
      this.#logger.error(
        { function: request.functionName, err: error },
        'the types of a request could not be compiled',
      );
      return undefined;
    }
  }
}
