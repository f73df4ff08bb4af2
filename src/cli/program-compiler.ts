import { Worker } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { Result } from '../base/result.ts';
import type { Config } from '../config/config.ts';
import { writeProgram } from '../runtime/call/load-program.ts';
import type { ServableProgram } from '../server/primary.ts';
import type { CompiledContent, CompiledDefinitions, CompileOutput, CompileTask } from './compile-task.ts';

/**
 * A thread without work ends after this time, and its memory returns to the system. Another one takes about 0.1 s of CPU time
 * until it has loaded AJV and the program; functions of a new server are often called soon one after the other.
 */
const IDLE_MS = 5_000;

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/**
 * Compiles definitions on a thread, and the argument validators of their functions when they are needed. The compiler and AJV
 * take 15 to 40 MB, which a server would otherwise keep for as long as it runs.
 */
export class ProgramCompiler {
  readonly #entry: URL;
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, Waiter>();
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** `entry`: the file of the thread, which calls `runCompileThread`. */
  constructor(entry: URL) {
    this.#entry = entry;
  }

  /** Compiles the definitions that the configuration names. The failure is a sentence: they cannot be read. */
  async compile(config: Config, output: CompileOutput): Promise<Result<CompiledDefinitions, string>> {
    return (await this.#run({ type: 'compile', config, output })) as Result<CompiledDefinitions, string>;
  }

  /** Returns the source of the argument validators of a function. */
  async validators(functionName: string, programPath: string): Promise<string> {
    return (await this.#run({ type: 'validators', functionName, programPath })) as string;
  }

  #run(task: CompileTask): Promise<unknown> {
    this.#thread ??= this.#start();
    clearTimeout(this.#idle);
    this.#thread.ref();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise((resolve, reject) => void this.#waiting.set(id, { resolve, reject }));
    this.#thread.postMessage({ id, task }, []);
    return answer;
  }

  #start(): Worker {
    const thread = new Worker(this.#entry);
    thread.on('message', ({ id, answer }: { readonly id: number; readonly answer: unknown }) => {
      this.#waiting.get(id)?.resolve(answer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest(thread);
    });
    thread.once('error', (error) => this.#ended(thread, error));
    thread.once('exit', (code) => this.#ended(thread, new Error(`the compile thread ended with code ${code}`)));
    return thread;
  }

  #rest(thread: Worker): void {
    thread.unref();
    this.#idle = setTimeout(() => {
      this.#thread = undefined;
      void thread.terminate();
    }, IDLE_MS).unref();
  }

  #ended(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
  }
}

/** A program that a thread compiled. This process holds it only until it is written. */
export class CompiledProgram implements ServableProgram {
  readonly hash: string;
  readonly functions: number;
  readonly fromBaml: boolean;
  readonly #compiler: ProgramCompiler;
  #json: CompiledContent['json'] | undefined;
  #path = '';
  /** By function: a worker that replaces another one needs them again. */
  readonly #validators = new Map<string, string>();

  constructor({ hash, functions, fromBaml, json }: CompiledContent, compiler: ProgramCompiler) {
    this.hash = hash;
    this.functions = functions;
    this.fromBaml = fromBaml;
    this.#json = json;
    this.#compiler = compiler;
  }

  write(directory: string): string {
    const json = this.#json;
    invariant(json !== undefined, 'a program is written once');
    this.#json = undefined;
    this.#path = writeProgram({ hash: this.hash, json }, directory);
    return this.#path;
  }

  async validators(functionName: string): Promise<string> {
    const known = this.#validators.get(functionName);
    if (known !== undefined) return known;
    const source = await this.#compiler.validators(functionName, this.#path);
    this.#validators.set(functionName, source);
    return source;
  }
}
