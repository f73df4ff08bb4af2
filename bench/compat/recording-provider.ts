import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { providerReplies, type Protocol } from '../provider-replies.ts';

/** Characters in one delta of a stream: about one token. */
const DELTA_LENGTH = 4;

/** The end of a request's path shows the wire format that the client expects. */
const PROTOCOLS: readonly (readonly [RegExp, Protocol])[] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/messages$|:(?:rawPredict|streamRawPredict)$/, 'anthropic'],
  [/:(?:generateContent|streamGenerateContent)$/, 'google'],
  [/\/converse(?:-stream)?$/, 'bedrock'],
];
const STREAM_PATH = /\/converse-stream$|:stream(?:GenerateContent|RawPredict)$/;

/** The members of a request body that contain the prompt, in any wire format. */
const PROMPT_KEYS = [
  'messages',
  'input',
  'instructions',
  'contents',
  'system',
  'system_instruction',
  'systemInstruction',
];

type Body = Readonly<Record<string, unknown>>;

/** An address of the provider that always returns the same text. */
export interface Channel {
  /** The base URL for clients. */
  readonly url: string;
  /** The prompt of every request so far as JSON with sorted keys. The channel's own address reads as `COMPAT_URL`. */
  readonly prompts: readonly string[];
}

export interface RecordingProvider {
  readonly url: string;
  open(reply: string): Channel;
  end(): void;
}

interface OpenChannel extends Channel {
  readonly reply: string;
  readonly prompts: string[];
}

/** Starts a model server on loopback that speaks every wire format, whole and as a stream, and records the prompts that it receives. */
export async function startRecordingProvider(): Promise<RecordingProvider> {
  const channels = new Map<string, OpenChannel>();
  const server = createServer((request, response) => void serve(request, response, channels));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    open: (reply) => {
      const name = `c${channels.size + 1}`;
      const channel = { url: `${url}/${name}/v1`, reply, prompts: [] };
      channels.set(name, channel);
      return channel;
    },
    end: () => endServer(server),
  };
}

function endServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  channels: ReadonlyMap<string, OpenChannel>,
): Promise<void> {
  const body = await readBody(request);
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const channel = channels.get(pathname.split('/')[1] ?? '');
  const protocol = PROTOCOLS.find(([pattern]) => pattern.test(decodeURIComponent(pathname)))?.[1];
  if (channel === undefined || protocol === undefined) {
    response.writeHead(404).end(`no model at "${pathname}"`);
    return;
  }
  const parsed = JSON.parse(body.replaceAll(channel.url, 'COMPAT_URL')) as Body;
  channel.prompts.push(promptOf(parsed));
  const reply = providerReplies(protocol, channel.reply, DELTA_LENGTH);
  const streamed = parsed['stream'] === true || STREAM_PATH.test(pathname);
  response.setHeader('content-type', streamed ? reply.streamType : 'application/json');
  response.end(streamed ? reply.streamed : reply.whole);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function promptOf(body: Body): string {
  const prompt = Object.fromEntries(PROMPT_KEYS.filter((key) => key in body).map((key) => [key, body[key]]));
  return JSON.stringify(prompt, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b)))
      : value,
  );
}
