import { ValidatorCompiler } from '../compiler/3-emit/validator-compiler.ts';
import { silentLogger } from '../logging/logger.ts';
import { createRuntime } from '../runtime/call/create-runtime.ts';
import type { FunctionRuntime, RuntimeOptions } from '../runtime/call/runtime.ts';
import type { Program } from '../schema/program.ts';
import type { Failure } from '../schema/failure.ts';
import type { Violation } from '../schema/violation.ts';

/** The settings of a command that calls functions in its own process. */
export interface LocalSettings extends Pick<RuntimeOptions, 'env' | 'onLoss' | 'prices' | 'typeSource'> {
  /** The time limit of one call in milliseconds, over all attempts. */
  readonly timeoutMs: number;
  /** Masks credentials in all text that can quote a provider. */
  readonly redact: (text: string) => string;
}

/** Creates the runtime of a program for the person who started svc, so it refuses no client and no URL. */
export function createLocalRuntime(
  program: Program,
  { env, onLoss, prices, typeSource }: LocalSettings,
  { exposePrompts }: Pick<RuntimeOptions, 'exposePrompts'>,
): FunctionRuntime {
  const validators = new ValidatorCompiler(program);
  return createRuntime(program, {
    logger: silentLogger,
    env,
    clientRegistry: 'open',
    allowPrivateUrls: true,
    exposePrompts,
    onLoss,
    prices,
    parseElsewhereAbove: Infinity,
    validatorSource: (functionName) => validators.source(functionName),
    typeSource,
  });
}

/** Why a call of a function has no value, for the person at a terminal. */
export interface RunFailure {
  /** A code of a failed call; or, in tests, `not_recorded`, or `invalid_test` for a test that cannot run. */
  readonly code: string;
  /** One or more sentences. */
  readonly message: string;
  readonly details?: readonly Violation[];
}

/** Advice for callers of the server, which the person at a terminal does not need. */
const ADVICE_FOR_CALLERS = / Set it for the server, or send it in "env" of the request's options$/u;

export function failureOf(failure: Failure): RunFailure {
  const message = failure.message.replace(ADVICE_FOR_CALLERS, ' Set it, or add it to .env.');
  const details = 'details' in failure ? { details: failure.details } : {};
  return { code: failure.code, message, ...details };
}
