import type { Logger } from '../logging/logger.ts';
import type { TypeOutcome, TypeRefusal, TypeRequest } from '../schema/type-extension.ts';
import { CallerShares, placesOf } from './admission.ts';

/** The requests of all workers that can wait for their types. Compiling the largest types takes 0.5 s, and a worker waits 30 s. */
export const WAITING_TYPES = 64;

/** Compiles argument validators and types for workers. */
export interface ProgramPlane {
  /** Returns the source of a function's argument validators. */
  readonly validators: (functionName: string) => Promise<string>;
  /** Compiles the types of a request. Resolves with undefined if too many requests wait. */
  readonly types: (request: TypeRequest) => Promise<TypeOutcome | undefined>;
}

/** Compiles the types of requests: equal ones together, and for each caller no more at once than its share. */
export class TypeCompilations {
  readonly #programs: ReadonlyMap<number, ProgramPlane>;
  readonly #logger: Logger;
  readonly #shares: CallerShares;
  /** The compilations under way: workers often ask for the same types at the same time. */
  readonly #compiling = new Map<string, Promise<TypeOutcome | undefined>>();

  /** `programs`: by generation. `callerShare`: the fraction of `WAITING_TYPES` that one caller can have. */
  constructor(programs: ReadonlyMap<number, ProgramPlane>, logger: Logger, callerShare: number) {
    this.#programs = programs;
    this.#logger = logger;
    this.#shares = new CallerShares(placesOf(WAITING_TYPES, callerShare));
  }

  /** A request that waits for a compilation under way takes nothing from the share of its caller. */
  async compile(generation: number, request: TypeRequest, caller?: string): Promise<TypeOutcome | TypeRefusal> {
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
