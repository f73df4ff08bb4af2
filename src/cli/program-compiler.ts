import { Worker } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { Result } from '../base/result.ts';
import type { Config } from '../config/config.ts';
import { writeProgram, type SerializedProgram } from '../runtime/call/load-program.ts';
import type { TypeOutcome, TypeRequest } from '../schema/type-extension.ts';
import type { ServableProgram } from '../server/primary.ts';
import { WAITING_TYPES } from '../server/program-answers.ts';
import type { CompiledContent, CompiledDefinitions, CompileOutput, CompileTask } from './compile-task.ts';

/**
 * A thread without work ends after this time, and its memory returns to the system. Another one takes about 0.1 s of CPU time
 * until it has loaded AJV and the program, and functions that were not compiled ahead are often called soon after one another.
 */
const IDLE_MS = 5_000;

interface WrittenProgram {
  readonly path: string;
  readonly hash: string;
}

/**
 * Characters of source after which `compileAhead` stops, because the primary keeps the source in memory. Several hundred typical functions
 * have so many.
 */
const MOST_AHEAD = 2 ** 20;

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** The limits of a thread that compiles types from callers. */
export interface ThreadLimits {
  /** The maximum number of tasks, waiting or running. */
  readonly tasks: number;
  /** The time limit of one task, after which the thread ends. */
  readonly timeMs: number;
  readonly heapMb: number;
}

/**
 * The limits for the types of requests. Each takes up to 0.5 s, and the first one also parses the definitions: 2 s for ten thousand
 * classes. The limits on the sizes of types bound the work; the time limit is a second line of defence.
 */
const TYPE_LIMITS: ThreadLimits = { tasks: WAITING_TYPES, timeMs: 15_000, heapMb: 256 };

/**
 * Compiles definitions, and the argument validators of their functions, on a thread. The compiler and AJV take 15 to 40 MB, which a
 * server would otherwise keep for as long as it runs.
 */
export class ProgramCompiler {
  readonly #entry: URL;
  readonly #limits: ThreadLimits | undefined;
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, Waiter>();
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  #overdue: NodeJS.Timeout | undefined;
  #types: ProgramCompiler | undefined;

  /** `entry`: the file of the thread, which calls `runCompileThread`. */
  constructor(entry: URL, limits?: ThreadLimits) {
    this.#entry = entry;
    this.#limits = limits;
  }

  /** Compiles the definitions that the configuration names. The failure is a sentence: they cannot be read. */
  async compile(config: Config, output: CompileOutput): Promise<Result<CompiledDefinitions, string>> {
    return (await this.#run({ type: 'compile', config, output })) as Result<CompiledDefinitions, string>;
  }

  async validators(functionName: string, { path, hash }: WrittenProgram): Promise<string> {
    const task = { type: 'validators', functionName, programPath: path, programHash: hash } as const;
    return (await this.#run(task)) as string;
  }

  /**
   * Compiles the types of a request, on a separate thread, so that types from callers do not delay the validators. Resolves with
   * undefined if too many requests wait.
   */
  async types(request: TypeRequest, programPath: string): Promise<TypeOutcome | undefined> {
    this.#types ??= new ProgramCompiler(this.#entry, TYPE_LIMITS);
    if (this.#types.isFull) return undefined;
    return (await this.#types.#run({ type: 'types', request, programPath })) as TypeOutcome;
  }

  get isFull(): boolean {
    return this.#waiting.size >= (this.#limits?.tasks ?? Infinity);
  }

  #run(task: CompileTask): Promise<unknown> {
    this.#thread ??= this.#start();
    clearTimeout(this.#idle);
    this.#thread.ref();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise((resolve, reject) => void this.#waiting.set(id, { resolve, reject }));
    if (this.#waiting.size === 1) this.#watch();
    this.#thread.postMessage({ id, task }, []);
    return answer;
  }

  #watch(): void {
    if (this.#limits === undefined) return;
    clearTimeout(this.#overdue);
    this.#overdue = setTimeout(() => void this.#thread?.terminate(), this.#limits.timeMs).unref();
  }

  #start(): Worker {
    const heap = this.#limits?.heapMb;
    const thread = new Worker(this.#entry, {
      ...(heap !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heap } }),
    });
    thread.on('message', ({ id, answer }: { readonly id: number; readonly answer: unknown }) => {
      this.#waiting.get(id)?.resolve(answer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest(thread);
      else this.#watch();
    });
    thread.once('error', (error) => this.#ended(thread, error));
    thread.once('exit', (code) => this.#ended(thread, new Error(`the compile thread ended with code ${code}`)));
    return thread;
  }

  #rest(thread: Worker): void {
    clearTimeout(this.#overdue);
    thread.unref();
    this.#idle = setTimeout(() => {
      this.#thread = undefined;
      void thread.terminate();
    }, IDLE_MS).unref();
  }

  #ended(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    clearTimeout(this.#overdue);
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
  }
}

/** A program that a thread compiled. This process holds it only until it is written. */
export class CompiledProgram implements ServableProgram {
  readonly hash: string;
  readonly fromBaml: boolean;
  readonly #functionNames: readonly string[];
  readonly #compiler: ProgramCompiler;
  #content: SerializedProgram | undefined;
  #path = '';
  /** By function: a worker that replaces another one needs them again. */
  readonly #validators = new Map<string, string>();

  constructor({ hash, functionNames, fromBaml, json, sources }: CompiledContent, compiler: ProgramCompiler) {
    this.hash = hash;
    this.#functionNames = functionNames;
    this.fromBaml = fromBaml;
    this.#content = { hash, json, sources };
    this.#compiler = compiler;
  }

  get functions(): number {
    return this.#functionNames.length;
  }

  write(directory: string): string {
    const content = this.#content;
    invariant(content !== undefined, 'a program is written once');
    this.#content = undefined;
    this.#path = writeProgram(content, directory);
    return this.#path;
  }

  types(request: TypeRequest): Promise<TypeOutcome | undefined> {
    return this.#compiler.types(request, this.#path);
  }

  async validators(functionName: string): Promise<string> {
    const known = this.#validators.get(functionName);
    if (known !== undefined) return known;
    const source = await this.#compiler.validators(functionName, { path: this.#path, hash: this.hash });
    this.#validators.set(functionName, source);
    return source;
  }

  async compileAhead(): Promise<void> {
    let length = 0;
    for (const functionName of this.#functionNames) {
      if (length > MOST_AHEAD) return;
      const source = await this.validators(functionName).catch(() => '');
      length += source.length;
    }
  }
}
