import { ValidatorCompiler } from '../compiler/3-emit/validator-compiler.ts';
import { silentLogger } from '../logging/logger.ts';
import { createRuntime } from '../runtime/call/create-runtime.ts';
import type { FunctionRuntime, RuntimeOptions } from '../runtime/call/runtime.ts';
import type { Program } from '../schema/program.ts';

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
