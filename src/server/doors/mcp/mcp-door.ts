import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  JSONRPCMessageSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import type { Config } from '../../../config/config.ts';
import type { Logger } from '../../../logging/logger.ts';
import type { Program } from '../../../schema/program.ts';
import {
  allowedOrigin,
  contextOf,
  unauthorized,
  type Arrival,
  type RequestContext,
} from '../../http/request-context.ts';
import { EventStream, type EventStreamOwner } from '../../http/event-stream.ts';
import { isLoopbackHost, listensOnLoopback } from '../../http/local-caller.ts';
import { problem, type Problem } from '../../http/problem.ts';
import type { JsonBody } from '../../http/read-json.ts';
import { JSON_TYPE } from '../../http/response-head.ts';
import type { LoneRequest } from '../../http/transport.ts';
import { visibleNames } from '../../http/visible-program.ts';
import { DoorRequest, type Door } from '../door.ts';
import { HttpRunner, type AnswerReader } from './http-runner.ts';
import { createMcpServer } from './mcp-server.ts';
import { functionTools, type FunctionTool } from './tools.ts';

interface McpDoorParts {
  readonly config: Pick<Config, 'exposePrompts' | 'features' | 'host' | 'mcpFunctions' | 'playground' | 'title'>;
  readonly version: string;
  readonly logger: Logger;
}

/**
 * The Model Context Protocol at `/mcp`, over its Streamable HTTP transport. It keeps no sessions, because workers share no memory: each POST
 * stands alone and gets its own server of the SDK.
 */
export class McpDoor implements Door {
  readonly prefix = '/mcp';
  readonly paths = ['/mcp'];
  readonly version: string;
  readonly title: string;
  readonly hash: string;
  /** Callers can see prompts in other ways too. */
  readonly prompts: boolean;
  readonly #tools: ReadonlyMap<string, FunctionTool>;
  /** A page elsewhere can make a name resolve to this machine, and call the server under that name (DNS rebinding). */
  readonly #onLoopback: boolean;
  readonly #news = new Set<NewsStream>();

  constructor(program: Program, { config, version, logger }: McpDoorParts) {
    this.version = version;
    this.title = config.title;
    this.hash = program.hash;
    this.prompts = config.exposePrompts || config.playground || config.features.includes('beta');
    this.#tools = functionTools(program, config.mcpFunctions);
    this.#onLoopback = listensOnLoopback(config.host);
    if (this.#tools.size > 0) return;
    logger.warn({ pattern: config.mcpFunctions }, '--mcp-functions selects no function: /mcp has no tools');
  }

  serve(arrival: Arrival): void {
    const { path, request } = arrival;
    const context = contextOf(arrival);
    context.trace?.routed(`${context.services.config.basePath}/mcp`);
    const refused = this.#originProblem(context);
    if (path !== this.prefix) context.notFound(this.paths);
    else if (refused !== undefined) context.problem(refused);
    else if (request.method === 'POST') new McpRequest(context, this).begin();
    else if (request.method !== 'GET' || !acceptsEvents(context))
      context.methodNotAllowed('POST, and GET for text/event-stream');
    else if (authorized(context) && knowsVersion(context)) new NewsStream(context, this, this.#news).open();
  }

  /** The streams end, so that their clients connect again, to a worker with the definitions of now. */
  drain(): void {
    for (const stream of this.#news) stream.finish();
  }

  /** The tools that the holder of a key can call. */
  toolsOf({ caller, services }: RequestContext): ReadonlyMap<string, FunctionTool> {
    if (caller === undefined || caller.callsAll) return this.#tools;
    const visible = new Set(visibleNames(caller, services.runtime.functionNames));
    return new Map([...this.#tools].filter(([name]) => visible.has(name)));
  }

  #originProblem({ request, services }: RequestContext): Problem | undefined {
    const { host } = request;
    if (this.#onLoopback && !isLoopbackHost(host)) {
      return problem('Forbidden', 'The server listens on this machine only: name it "localhost" in the URL.');
    }
    const origin = request.header('origin');
    if (origin === undefined || allowedOrigin(services.config.corsOrigins, origin) !== undefined) return undefined;
    if (URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) return undefined;
    return problem('Forbidden', 'Pages of this origin cannot use /mcp: allow it with --cors-origin.');
  }
}

/** Answers 401 with the header that clients of the protocol expect, and returns false, when the request has no valid key. */
function authorized(context: RequestContext): boolean {
  if (context.services.localOnly && !context.request.local) return context.authorized();
  return context.ifAuthorized((refusal) => {
    context.problem({ ...unauthorized(refusal), status: 401, headers: [['www-authenticate', 'Bearer']] });
  });
}

/** Returns false, and answers as the protocol requires, if the client uses a version that svc does not know. */
function knowsVersion(context: RequestContext): boolean {
  const version = context.request.header('mcp-protocol-version');
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return true;
  const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  refuse(context, -32_000, `The protocol version "${version}" is unknown; svc knows ${known}.`);
  return false;
}

/** Answers a message that no server of the SDK receives. */
function refuse(context: RequestContext, code: number, message: string): void {
  context.json(400, { jsonrpc: '2.0', id: null, error: { code, message } });
}

function acceptsEvents({ request }: RequestContext): boolean {
  return /text\/event-stream|\*\/\*/u.test(request.header('accept') ?? '');
}

/** One message of a client. The answer is JSON, or a stream if progress comes before it, or if it takes long. */
class McpRequest extends DoorRequest implements Transport, AnswerReader, EventStreamOwner, LoneRequest {
  readonly limits = this.context.services.streamLimits;
  readonly backlog = this.context.services.streamBacklog;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #door: McpDoor;
  readonly #stream = new EventStream(this.context.response, this.context.services.sweep, this);
  #server: Server | undefined;
  #message: JSONRPCMessage | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #writableListener: (() => void) | undefined;

  constructor(context: RequestContext, door: McpDoor) {
    super(context);
    this.#door = door;
  }

  protected override authorized(): boolean {
    return authorized(this.context) && knowsVersion(this.context);
  }

  protected take({ value }: JsonBody): void {
    const { data } = JSONRPCMessageSchema.safeParse(value);
    this.#message = data;
    if (data === undefined) refuse(this.context, -32_600, 'The body is not a JSON-RPC message.');
    else if (!isJSONRPCRequest(data)) this.context.send(202, [], undefined);
    else if (this.context.response.whenAlone(this)) this.proceed();
  }

  /** Called once no other request in the same packet can end the connection. */
  proceed(): void {
    const { context } = this;
    context.response.onAborted(() => this.#leave());
    // From then on, comments keep the connection open.
    this.#openTimer = setTimeout(() => this.open(), this.limits.statusWaitMs);
    const server = createMcpServer({
      title: this.#door.title,
      version: this.#door.version,
      tools: this.#door.toolsOf(context),
      prompts: this.#door.prompts,
      runner: new HttpRunner(context, this),
      onBug: (error) => context.services.logger.error({ ...context.logFields, err: error }, 'a bug in the server'),
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onerror = (error) => {
      context.services.logger.debug({ ...context.logFields, err: error }, 'the MCP server reports an error');
    };
    this.#server = server;
    // It calls `start` within this turn.
    void server.connect(this);
  }

  async start(): Promise<void> {
    if (this.#message !== undefined) this.onmessage?.(this.#message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { context } = this;
    if (context.response.closed) return;
    const json = JSON.stringify(message);
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    if (isAnswer) clearTimeout(this.#openTimer);
    if (isAnswer && this.#stream.opened) this.#stream.last(json);
    else if (isAnswer) context.send(200, [JSON_TYPE], json);
    else if (acceptsEvents(context)) {
      this.open();
      this.#stream.event(json);
    }
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  get isBehind(): boolean {
    return !this.#stream.writable;
  }

  open(): void {
    const { context } = this;
    if (!context.response.closed && acceptsEvents(context)) this.#stream.open(context.headers([]));
  }

  onWritable(listener: () => void): void {
    this.#writableListener = listener;
  }

  writable(): void {
    this.#writableListener?.();
  }

  /** The stream of the call notices it too. */
  behind(): void {}

  cut(): void {
    this.#stream.abandon();
    this.#leave();
  }

  /** Cancels what runs for the client. */
  #leave(): void {
    clearTimeout(this.#openTimer);
    this.#stream.close();
    void this.#server?.close();
  }
}

/** The lists that a change of the definitions changes. */
const LISTS = ['tools', 'prompts'] as const;

/** The stream on which a client waits for notifications: it learns that the definitions have changed. */
class NewsStream implements EventStreamOwner {
  readonly limits: EventStreamOwner['limits'];
  readonly backlog: EventStreamOwner['backlog'];
  readonly #context: RequestContext;
  readonly #door: McpDoor;
  readonly #open: Set<NewsStream>;
  readonly #stream: EventStream;

  constructor(context: RequestContext, door: McpDoor, open: Set<NewsStream>) {
    const { streamLimits, streamBacklog, sweep } = context.services;
    this.limits = streamLimits;
    this.backlog = streamBacklog;
    this.#context = context;
    this.#door = door;
    this.#open = open;
    this.#stream = new EventStream(context.response, sweep, this);
  }

  /** The last event of the client has the hash of the definitions that it knows. */
  open(): void {
    const { request, response } = this.#context;
    this.#open.add(this);
    response.onAborted(() => this.#left());
    this.#stream.open(this.#context.headers([]));
    const known = request.header('last-event-id');
    if (known !== undefined && known !== this.#door.hash) this.#send();
  }

  /** The client connects again, to a worker that can have other definitions. */
  finish(): void {
    this.#send();
    this.#stream.end();
    this.#left();
  }

  writable(): void {}

  behind(): void {}

  cut(): void {
    this.#stream.abandon();
    this.#left();
  }

  #send(): void {
    for (const list of this.#door.prompts ? LISTS : LISTS.slice(0, 1)) {
      const message = { jsonrpc: '2.0', method: `notifications/${list}/list_changed` };
      this.#stream.event(JSON.stringify(message), this.#door.hash);
    }
  }

  #left(): void {
    this.#open.delete(this);
    this.#stream.close();
    this.#context.endCall(200, 'ok', 200);
  }
}
