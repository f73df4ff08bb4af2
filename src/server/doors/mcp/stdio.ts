import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Cancellation } from '../../../base/cancellation.ts';
import { joinParts } from '../../../base/text-parts.ts';
import type { Config } from '../../../config/config.ts';
import type { Redactor } from '../../../logging/redactor.ts';
import { warningsOf } from '../../../runtime/call/losses.ts';
import type {
  CallContext,
  CallOutcome,
  FunctionRuntime,
  FunctionStream,
  PreparedCall,
} from '../../../runtime/call/runtime.ts';
import type { Failure } from '../../../schema/failure.ts';
import type { Message } from '../../../schema/message.ts';
import type { Program } from '../../../schema/program.ts';
import { metaOf } from '../../http/handlers/answer-parts.ts';
import { PartialPace } from '../../http/handlers/stream-request.ts';
import { problemBody, problemOf } from '../../http/problem.ts';
import { requestIdOf } from '../../http/request-context.ts';
import { createMcpServer, type ToolArguments, type FunctionRunner, type RunOptions } from './mcp-server.ts';
import type { RunOutcome, RunProblem } from './results.ts';
import { functionTools } from './tools.ts';

export interface StdioParts {
  readonly runtime: FunctionRuntime;
  readonly config: Pick<
    Config,
    'mcpFunctions' | 'partialIntervalMs' | 'requestTimeoutMs' | 'streamTimeoutMs' | 'title'
  >;
  readonly version: string;
  readonly redactor: Redactor;
  /** The message of a failure for the person who started svc. */
  readonly messageOf: (failure: Failure) => string;
  /** Reports something to that person. */
  readonly report: (sentence: string) => void;
}

/** Serves the functions over stdin and stdout, until stdin closes or `stop` settles. Then it cancels the calls that run. */
export async function serveStdio(program: Program, parts: StdioParts, stop: Promise<unknown>): Promise<void> {
  const { config, redactor, report, runtime, version } = parts;
  const tools = functionTools(program, config.mcpFunctions);
  if (tools.size === 0) report(`--mcp-functions ${JSON.stringify(config.mcpFunctions)} selects no function.`);
  const describe = (error: unknown): string =>
    redactor.redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const server = createMcpServer({
    title: config.title,
    version,
    tools,
    // They are those of the person who started svc.
    prompts: true,
    runner: new LocalRunner(parts),
    onBug: (error) => report(`a bug: ${describe(error)}`),
  });
  const closed = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onclose = resolve;
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    // The reader of the answers is gone.
    process.stdout.once('error', () => resolve());
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  server.onerror = (error) => report(redactor.redact(error.message));
  await server.connect(new StdioServerTransport());
  await Promise.race([closed, stop]);
  await server.close();
  await runtime.close();
}

/** Runs functions in this process. */
class LocalRunner implements FunctionRunner {
  readonly #parts: StdioParts;

  constructor(parts: StdioParts) {
    this.#parts = parts;
  }

  async run(functionName: string, args: ToolArguments, { signal, onPartial }: RunOptions): Promise<RunOutcome> {
    const { config, runtime, redactor } = this.#parts;
    const requestId = requestIdOf(undefined);
    const prepared = await this.#prepare(functionName, args);
    if (!prepared.ok) return this.#problem(prepared.failure, requestId);
    const cancellation = new Cancellation();
    signal.addEventListener('abort', () => cancellation.cancel('the client cancelled the call'), { once: true });
    const deadlineMs = onPartial === undefined ? config.requestTimeoutMs : config.streamTimeoutMs;
    const context = { requestId, cancellation, deadlineMs };
    const { result, report } =
      onPartial === undefined
        ? await runtime.call(prepared.value, context)
        : await this.#stream(prepared.value, context, onPartial);
    if (!result.ok) return this.#problem(result.failure, requestId);
    const { list, more } = warningsOf(result.value);
    const warnings = { ...(list.length > 0 && { warnings: list }), ...(more > 0 && { more_warnings: more }) };
    const facts = { request_id: requestId, ...metaOf(['usage', 'client'], report, 0), ...warnings };
    return { json: result.value.json, facts: JSON.parse(redactor.redactValues(JSON.stringify(facts))) };
  }

  async render(functionName: string, args: ToolArguments): Promise<readonly Message[] | RunProblem> {
    const prepared = await this.#prepare(functionName, args);
    const messages = prepared.ok ? this.#parts.runtime.render(prepared.value) : prepared;
    return messages.ok ? messages.value : this.#problem(messages.failure, requestIdOf(undefined));
  }

  async #prepare(functionName: string, args: ToolArguments): Promise<ReturnType<FunctionRuntime['prepare']>> {
    const { runtime } = this.#parts;
    const types = await runtime.load(functionName, args);
    return runtime.prepare(functionName, args, { local: true }, types);
  }

  #stream(prepared: PreparedCall, context: CallContext, onPartial: (json: string) => void): Promise<CallOutcome> {
    const { config, runtime } = this.#parts;
    return new Promise((resolve) => {
      let stream: FunctionStream | undefined;
      const pace = new PartialPace(config.partialIntervalMs, () => {
        const partial = stream?.takePartial();
        if (stream?.isBehind() === true) pace.readOn();
        if (partial === undefined) return;
        pace.sent();
        onPartial(joinParts(partial));
      });
      stream = runtime.stream(prepared, context, {
        text: () => pace.touch(),
        reasoning: () => {},
        // The next partial replaces the last one.
        reset: () => {},
        ended: (outcome) => {
          pace.stop();
          resolve(outcome);
        },
      });
    });
  }

  #problem(failure: Failure, requestId: string): RunProblem {
    const { messageOf, redactor } = this.#parts;
    const body = problemBody({ ...problemOf(failure), message: messageOf(failure) }, requestId, redactor);
    const retryAfterSeconds = 'retryAfterSeconds' in failure ? failure.retryAfterSeconds : undefined;
    return { problem: JSON.parse(body), retryAfterSeconds };
  }
}
