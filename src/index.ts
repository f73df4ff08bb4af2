import { createRequire } from 'node:module';
import { isJsonObject } from './base/json.ts';
import { didYouMeanOneOf } from './base/suggestion.ts';
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
import { ON_LOSS } from './runtime/call/losses.ts';
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
 * const typed = loadFunctions<Functions>({ from: './svc_src', env: process.env });
 * const { name } = await typed.call('ExtractResume', { resume: text });
 * ```
 *
 * @throws {DefinitionError} if an option is unknown, missing or invalid, the directory cannot be read, or a definition has errors
 */
export function loadFunctions(options: LoadOptions): FunctionLibrary;
export function loadFunctions<Functions extends { readonly [Name in keyof Functions]: FunctionTypes }>(
  options: LoadOptions,
): TypedFunctions<Functions>;
export function loadFunctions(options: LoadOptions): unknown {
  const faults = optionFaults(options);
  if (faults.length > 0) throw new DefinitionError(faults);
  const sources = readSources(options.from);
  if (!sources.ok) throw new DefinitionError([sources.failure]);
  const { files } = sources.value;
  const prices = priceList(options.prices);
  const { diagnostics, program } = compile(files, {
    version: VERSION,
    versionCheck: false,
    beta: true,
    apiKey: false,
    variables: options.env,
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

const OPTIONS = ['from', 'env', 'logger', 'onLoss', 'prices'] as const satisfies ReadonlyArray<keyof LoadOptions>;

const LOGGER_METHODS = ['enabled', 'error', 'warn', 'info', 'debug'] as const satisfies ReadonlyArray<
  keyof NonNullable<LoadOptions['logger']>
>;

/** One sentence for each mistake in options that no compiler has checked. Values of variables are secrets, and do not appear. */
function optionFaults(options: unknown): readonly string[] {
  if (!isJsonObject(options) || options instanceof URL) {
    const from = typeof options === 'string' ? JSON.stringify(options) : "'./svc_src'";
    return [
      `loadFunctions takes an object with options, not ${kindOf(options)}. Write loadFunctions({ from: ${from}, env: ${ENVIRONMENT} }).`,
    ];
  }
  const unknown = Object.keys(options).filter((key) => !OPTIONS.some((known) => known === key));
  const faults = unknown.map((key) => `unknown option ${JSON.stringify(key)}. ${didYouMeanOneOf(key, OPTIONS)}`);
  const { from, env, logger, onLoss } = options;
  if (typeof from !== 'string') faults.push(fault('from', from, FROM_ADVICE));
  if (!isJsonObject(env)) faults.push(fault('env', env, ENV_ADVICE));
  else faults.push(...variableFaults(env));
  if (
    logger !== undefined &&
    !LOGGER_METHODS.every((name) => isJsonObject(logger) && typeof logger[name] === 'function')
  )
    faults.push(fault('logger', logger, `Pass an object with the functions ${LOGGER_METHODS.join(', ')}.`));
  if (onLoss !== undefined && !ON_LOSS.some((known) => known === onLoss))
    faults.push(fault('onLoss', onLoss, `Pass one of ${ON_LOSS.map((known) => JSON.stringify(known)).join(', ')}.`));
  return faults;
}

const ENVIRONMENT = 'process.env';

const FROM_ADVICE = `Pass the path of the definition files, such as './svc_src'; fileURLToPath of node:url turns a URL into a path.`;

const ENV_ADVICE = `Pass ${ENVIRONMENT}, or an object with the variables that the definitions and the keys of providers read.`;

function fault(option: (typeof OPTIONS)[number], value: unknown, advice: string): string {
  return `the option "${option}" is ${value === undefined ? 'missing' : kindOf(value)}. ${advice}`;
}

function variableFaults(env: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(env)
    .filter(([, value]) => value !== undefined && typeof value !== 'string')
    .map(([name, value]) => `the variable ${JSON.stringify(name)} in "env" is ${kindOf(value)}. Pass a string.`);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof URL) return 'a URL';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Thrown for wrong options and for definition files with errors; `problems` has one line for each of them. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly code = 'definition_error';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
