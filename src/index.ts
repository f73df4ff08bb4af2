import { createRequire } from 'node:module';
import { checkPrices, readPrices } from './config/read-prices.ts';
import { ValidatorCompiler } from './compiler/3-emit/validator-compiler.ts';
import { compile } from './compiler/compile.ts';
import { readSources } from './compiler/read-sources.ts';
import { createTypeSource } from './compiler/compile-types.ts';
import {
  FunctionLibrary,
  type FunctionTypes,
  type LibraryOptions,
  type TypedFunctions,
} from './runtime/call/function-library.ts';
import type { PriceList } from './schema/price-list.ts';

export { CallError } from './runtime/call/function-library.ts';
export { ClientRegistry } from './runtime/call/client-directory.ts';
export type { RegisteredClient } from './runtime/call/client-directory.ts';
export type { FunctionEvent } from './runtime/call/function-library.ts';
export { FunctionLibrary } from './runtime/call/function-library.ts';
export type { CallMeta, CallSettings, LibraryOptions } from './runtime/call/function-library.ts';
export type { FunctionTypes, TypedFunctions } from './runtime/call/function-library.ts';
export type { OnLoss, Warning } from './runtime/call/losses.ts';
export type { Losses } from './schema/explanation.ts';
export type { Attempt, Failure, FailureCode } from './schema/failure.ts';
export type { Violation } from './schema/violation.ts';

/** The version of this package. */
export const VERSION = (createRequire(import.meta.url)('svc-functions/package.json') as { readonly version: string })
  .version;

export interface LoadOptions extends Omit<LibraryOptions, 'prices'> {
  /** Directory of the definition files (`*.svc`, `*.baml`), including its subdirectories; or one file. */
  readonly from: string;
  /** The prices of models: the path of a price file (see `svc serve --prices`), or the content of such a file. Default: none. */
  readonly prices?: string | readonly PriceEntry[];
}

/** The prices of a model, in US dollars per million tokens. */
export interface PriceEntry {
  /** A model name; `*` matches any text. */
  readonly model: string;
  /** If absent, the price applies to every provider. */
  readonly provider?: string;
  readonly input: number;
  readonly output: number;
  /** The price of prompt tokens from the provider's cache. If absent, the price of `input`. */
  readonly cached_input?: number;
}

/**
 * Compiles the definition files of a directory and returns their functions. It is synchronous; `await loadFunctions(…)`
 * returns the same value.
 *
 * ```ts
 * import { ClientRegistry, loadFunctions } from 'svc-functions';
 *
 * const functions = loadFunctions({ from: './svc_src', env: process.env });
 * const text = 'Ada Lovelace, ada@example.com, wrote the first program';
 * const resume = await functions.call('ExtractResume', { resume: text });
 * console.log(resume);
 *
 * const clientRegistry = new ClientRegistry().addLlmClient('Mine', 'offline', { latency_ms: 1 }).setPrimary('Mine');
 * for await (const event of functions.stream('ExtractResume', { resume: text }, { clientRegistry })) {
 *   if (event.type === 'final') console.log(event.value);
 * }
 * await functions.close();
 * ```
 *
 * With the `Functions` that `svc types` writes, names, arguments, results and partials have types:
 *
 * ```ts
 * import type { Functions } from './svc.js';
 *
 * const typed = loadFunctions<Functions>({ from: './svc_src' });
 * const { name } = await typed.call('ExtractResume', { resume: text });
 * ```
 *
 * @throws {DefinitionError} if the directory cannot be read, a definition has errors, or the prices are invalid
 */
export function loadFunctions(options: LoadOptions): FunctionLibrary;
export function loadFunctions<Functions extends { readonly [Name in keyof Functions]: FunctionTypes }>(
  options: LoadOptions,
): TypedFunctions<Functions>;
export function loadFunctions(options: LoadOptions): unknown {
  const sources = readSources(options.from);
  if (!sources.ok) throw new DefinitionError([sources.failure]);
  const { files } = sources.value;
  const prices = priceList(options.prices);
  const { diagnostics, program } = compile(files, {
    version: VERSION,
    versionCheck: false,
    beta: true,
    apiKey: false,
    ...(options.env !== undefined && { variables: options.env }),
  });
  if (program !== undefined) {
    const validators = new ValidatorCompiler(program);
    const validatorSource = (functionName: string): string => validators.source(functionName);
    const typeSource = createTypeSource(program, files);
    return new FunctionLibrary(program, { validatorSource, typeSource }, { ...options, prices });
  }
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  throw new DefinitionError(
    errors.map(({ span, message }) => {
      const at = files.find((file) => file.path === span.file)?.positionAt(span.start);
      return `${span.file}:${at?.line ?? 0}:${at?.column ?? 0}: ${message}`;
    }),
  );
}

function priceList(prices: LoadOptions['prices']): PriceList {
  if (prices === undefined) return [];
  const read = typeof prices === 'string' ? readPrices(prices) : checkPrices(prices, 'the option "prices"');
  if (!read.ok) throw new DefinitionError([read.failure]);
  return read.value;
}

/** Thrown for definition files with errors; `problems` has one line for each error. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly code = 'definition_error';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
