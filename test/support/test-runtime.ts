import { Cancellation } from '../../src/base/cancellation.ts';
import { compile } from '../../src/compiler/compile.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { createRuntime } from '../../src/runtime/call/create-runtime.ts';
import type {
  CallContext,
  CallOrigin,
  CallOutcome,
  FunctionRuntime,
  ReplyOutcome,
  RuntimeOptions,
} from '../../src/runtime/call/runtime.ts';
import { NO_LOSSES } from '../../src/runtime/reply/reply-parser.ts';
import type { Program } from '../../src/schema/program.ts';
import { validatorSource } from './validators.ts';

/** The program of one definition file; throws its diagnostics. */
export function compileText(text: string): Program {
  const { program, diagnostics } = compile([new SourceFile('main.svc', text)], {
    version: '0.1.0',
    versionCheck: false,
    beta: true,
    apiKey: false,
  });
  if (program === undefined) throw new Error(diagnostics.map((found) => found.message).join('\n'));
  return program;
}

export function testRuntime(
  text: string,
  env: Readonly<Record<string, string>> = {},
  options: Partial<RuntimeOptions> = {},
): FunctionRuntime {
  const program = compileText(text);
  return createRuntime(program, {
    logger: silentLogger,
    env,
    clientRegistry: 'open',
    allowPrivateUrls: true,
    exposePrompts: false,
    onLoss: 'accept',
    parseElsewhereAbove: Infinity,
    validatorSource: validatorSource(program),
    ...options,
  });
}

export function callContext(deadlineMs = 120_000, cancellation = new Cancellation()): CallContext {
  return { requestId: 'test', cancellation, deadlineMs };
}

/** Prepares and calls a function; a refused request is an outcome too. */
export function callFunction(
  runtime: FunctionRuntime,
  name: string,
  body: unknown,
  context: CallContext = callContext(),
): Promise<CallOutcome> {
  const prepared = runtime.prepare(name, body, LOCAL);
  if (!prepared.ok) return Promise.resolve({ result: prepared, report: NOTHING });
  return runtime.call(prepared.value, context);
}

export interface Streamed {
  readonly outcome: CallOutcome;
  /** `reset: …` and every partial, in the order of their arrival. */
  readonly events: readonly string[];
  /** The reasoning since the last reset. */
  readonly reasoning: string;
}

/** Prepares and streams a function, and reads each partial at once. */
export function streamFunction(
  runtime: FunctionRuntime,
  name: string,
  body: unknown,
  context: CallContext = callContext(),
): Promise<Streamed> {
  const prepared = runtime.prepare(name, body, LOCAL);
  if (!prepared.ok)
    return Promise.resolve({ outcome: { result: prepared, report: NOTHING }, events: [], reasoning: '' });
  const call = prepared.value;
  const events: string[] = [];
  let reasoning = '';
  return new Promise((resolve) => {
    const stream = runtime.stream(call, context, {
      text: () => {
        const partial = stream.takePartial()?.join('');
        if (partial !== undefined) events.push(partial);
      },
      reasoning: (delta) => {
        reasoning += delta;
      },
      reset: (reason) => {
        reasoning = '';
        events.push(`reset: ${reason}`);
      },
      ended: (outcome) => resolve({ outcome, events, reasoning }),
    });
  });
}

/** Parses a reply as a call would. `body`: more members of the request. */
export async function parseText(
  runtime: FunctionRuntime,
  name: string,
  text: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<ReplyOutcome> {
  const prepared = runtime.prepareReply(name, { ...body, text });
  return prepared.ok ? runtime.parseReply(prepared.value, callContext()) : prepared;
}

/** The value of a call, or the code of its failure. */
export function valueOf(outcome: CallOutcome): unknown {
  return outcome.result.ok ? JSON.parse(outcome.result.value.json) : outcome.result.failure.code;
}

const LOCAL: CallOrigin = { local: true };

const NOTHING = { attempts: [], usage: {}, modelMs: 0, renderMs: 0, parseMs: 0, flags: [], losses: NO_LOSSES };
