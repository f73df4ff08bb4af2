import { messageOf } from '../base/invariant.ts';
import type { Logger } from '../logging/logger.ts';
import type { TypeOutcome, TypeRequest } from '../schema/type-extension.ts';
import type { WorkerMessage } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

type Question<Type> = Extract<WorkerMessage, { readonly type: Type }>;

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

  /** `programs`: by generation. */
  constructor(programs: ReadonlyMap<number, ProgramPlane>, logger: Logger) {
    this.#programs = programs;
    this.#logger = logger;
  }

  async validators(handle: WorkerHandle, { id, functionName }: Question<'load-validators'>): Promise<void> {
    try {
      const source = await this.#programs.get(handle.generation)?.validators(functionName);
      handle.send({ type: 'validators', id, ...(source !== undefined && { source }) });
    } catch (error) {
      this.#logger.error({ function: functionName, err: error }, 'a bug: validators cannot be compiled');
      handle.send({ type: 'validators', id, failure: messageOf(error) });
    }
  }

  async types(handle: WorkerHandle, { id, request }: Question<'extend-types'>): Promise<void> {
    try {
      const outcome = await this.#programs.get(handle.generation)?.types(request);
      handle.send({ type: 'extended-types', id, ...(outcome !== undefined && { outcome }) });
    } catch (error) {
      this.#logger.error(
        { function: request.functionName, err: error },
        'the types of a request could not be compiled',
      );
      handle.send({ type: 'extended-types', id });
    }
  }
}
