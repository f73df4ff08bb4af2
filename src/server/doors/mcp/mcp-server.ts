import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
  type ServerNotification,
} from '@modelcontextprotocol/sdk/types.js';
import { isOptionsKey } from '../../../base/json.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { Message } from '../../../schema/message.ts';
import {
  argumentOfPrompt,
  problemText,
  promptResult,
  toolResult,
  type RunOutcome,
  type RunProblem,
} from './results.ts';
import { isTextType, type FunctionTool } from './tools.ts';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Runs functions: through the path of a request, or in the process of `svc mcp`. Its promises reject only because of a bug. */
export interface FunctionRunner {
  /** `onPartial` receives the JSON text of each partial value; without it, the call is not streamed. */
  run(functionName: string, args: ToolArguments, options: RunOptions): Promise<RunOutcome>;
  /** The messages that a call would send. */
  render(functionName: string, args: ToolArguments, signal: AbortSignal): Promise<readonly Message[] | RunProblem>;
}

export interface RunOptions {
  /** The client cancelled the request, or left. */
  readonly signal: AbortSignal;
  readonly onPartial?: ((json: string) => void) | undefined;
}

interface McpServerParts {
  readonly title: string;
  readonly version: string;
  /** Those that the client can call, by name. */
  readonly tools: ReadonlyMap<string, FunctionTool>;
  /** The client can see prompts. */
  readonly prompts: boolean;
  readonly runner: FunctionRunner;
  /** Called with an exception that the client must not see. */
  readonly onBug: (error: unknown) => void;
}

/** Characters of a partial in a notification of progress, which hosts show to a person. */
const MAX_PROGRESS = 4_096;

/** svc asks no client for input, so it validates none. The SDK would create a compiler of schemas for each server. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'svc asks for no input' }),
};

/** Creates the end of one connection: it answers with the functions of the program. */
export function createMcpServer(parts: McpServerParts): Server {
  const { title, version, tools, prompts, runner } = parts;
  const listChanged = { listChanged: true };
  const server = new Server(
    { name: 'svc', title, version },
    {
      capabilities: { tools: listChanged, ...(prompts && { prompts: listChanged }) },
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const answer = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) parts.onBug(error);
      throw error instanceof RefusedRequest ? error : new RefusedRequest(ErrorCode.InternalError, 'The server failed.');
    }
  };
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    answer(() => {
      refuseCursor(params?.cursor);
      return { tools: [...tools.values()].map(({ tool }) => tool) };
    }),
  );
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification }) =>
    answer(async () => {
      const { name, arguments: args = {}, _meta: { progressToken } = {} } = params;
      const { wrapped } = toolNamed(tools, 'tool', name);
      const onPartial = progressToken === undefined ? undefined : progress(progressToken, sendNotification);
      const outcome = optionsProblem(args) ?? (await runner.run(name, args, { signal, onPartial }));
      return toolResult(outcome, wrapped);
    }),
  );
  if (!prompts) return server;
  server.setRequestHandler(ListPromptsRequestSchema, ({ params }) =>
    answer(() => {
      refuseCursor(params?.cursor);
      return { prompts: [...tools.values()].map(({ prompt }) => prompt) };
    }),
  );
  server.setRequestHandler(GetPromptRequestSchema, ({ params }, { signal }) =>
    answer(async () => {
      const { parameters, prompt } = toolNamed(tools, 'prompt', params.name);
      const types = new Map(parameters.map((parameter) => [parameter.name, parameter.type]));
      const args = Object.entries(params.arguments ?? {}).map(([name, text]) => {
        const type = types.get(name);
        return [name, argumentOfPrompt(text, type === undefined || isTextType(type))] as const;
      });
      const sent = Object.fromEntries(args);
      const messages = optionsProblem(sent) ?? (await runner.render(params.name, sent, signal));
      if ('problem' in messages) throw new RefusedRequest(ErrorCode.InvalidParams, problemText(messages));
      return promptResult(messages, prompt.description);
    }),
  );
  return server;
}

/** An error in the answer. The SDK's own class writes the code into the message, and clients write it there again. */
class RefusedRequest extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

function toolNamed(tools: ReadonlyMap<string, FunctionTool>, kind: string, name: string): FunctionTool {
  const tool = tools.get(name);
  if (tool !== undefined) return tool;
  const message = `There is no ${kind} "${name}". ${didYouMean(name, tools.keys())}`.trimEnd();
  throw new RefusedRequest(ErrorCode.InvalidParams, message);
}

/** Every list has one page. */
function refuseCursor(cursor: string | undefined): void {
  if (cursor !== undefined) throw new RefusedRequest(ErrorCode.InvalidParams, 'The list has one page: send no cursor.');
}

/** Options choose clients and variables. A model writes these arguments, so they have none. */
function optionsProblem(args: ToolArguments): RunProblem | undefined {
  const path = Object.keys(args).find(isOptionsKey);
  if (path === undefined) return undefined;
  const message = `${path}: tools accept no options.`;
  return { problem: { error: 'invalid_argument', message, details: [{ path, message: 'is not a parameter' }] } };
}

function progress(
  progressToken: string | number,
  send: (notification: ServerNotification) => Promise<void>,
): (json: string) => void {
  let count = 0;
  return (json) => {
    count += 1;
    const message = json.length <= MAX_PROGRESS ? json : `${json.slice(0, MAX_PROGRESS - 1)}…`;
    void send({ method: 'notifications/progress', params: { progressToken, progress: count, message } });
  };
}
