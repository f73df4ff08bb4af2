import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { replaceFile } from '../../base/write-file.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Message, MessagePart } from '../../schema/message.ts';

/** Identifies the replies to one prompt: the function, the client that is asked, and the messages. */
export interface RecordingKey {
  readonly functionName: string;
  readonly client: string;
  readonly prompt: readonly Message[];
}

export interface RecordedReply {
  readonly text: string;
  readonly latencyMs: number;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** The layout of the files; a file of another layout is refused. */
const FORMAT = 1;

/**
 * Replies of models in a directory, one readable JSON file for each function, client and prompt. The files contain no
 * credentials: `redact` masks them in prompts and replies, and the name of a file depends on the masked prompt, so that it
 * reveals nothing about them.
 */
export class Recordings {
  readonly #directory: string;
  readonly #redact: (text: string) => string;
  /** The replies of this run by file: those of earlier runs are replaced. */
  readonly #written = new Map<string, (RecordedReply | undefined)[]>();

  constructor(directory: string, redact: (text: string) => string) {
    this.#directory = directory;
    this.#redact = redact;
  }

  /** Keeps the reply of a repetition, which starts at 0, and returns the path of the file. Throws an error of the file system. */
  write(key: RecordingKey, repetition: number, reply: RecordedReply): string {
    const prompt = this.#readable(key.prompt);
    const name = fileName(key, prompt);
    const replies = this.#written.get(name) ?? [];
    this.#written.set(name, replies);
    replies[repetition] = { ...reply, text: this.#redact(reply.text) };
    const { functionName, client } = key;
    const known = replies.filter((each) => each !== undefined).map(replyData);
    const content = { format: FORMAT, function: functionName, client, prompt, replies: known };
    mkdirSync(this.#directory, { recursive: true });
    const path = join(this.#directory, name);
    replaceFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
    return path;
  }

  /** The reply for a repetition, or a message that states why there is none. */
  read(key: RecordingKey, repetition: number): Result<RecordedReply, string> {
    const name = fileName(key, this.#readable(key.prompt));
    const path = join(this.#directory, name);
    let content: unknown;
    try {
      content = JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      const missing = codeOf(error) === 'ENOENT';
      return err(missing ? this.#notRecorded(key) : `The recording "${path}" cannot be read: ${messageOf(error)}`);
    }
    const replies = repliesIn(content);
    if (replies === undefined) {
      return err(`This version of svc cannot read the recording "${path}". Record it again`);
    }
    const reply = replies[repetition % replies.length];
    return reply === undefined ? err(`The recording "${path}" has no reply. Record it again`) : ok(reply);
  }

  #notRecorded(key: RecordingKey): string {
    const { functionName, client } = key;
    const what = `the function "${functionName}" with the client "${client}"`;
    if (this.#others(filePrefix(key)) === 0) {
      return `Not recorded: "${this.#directory}" has no reply for ${what}. Record it with --record`;
    }
    return `Not recorded: the prompt of ${what} is not one of those in "${this.#directory}", so it has changed. Record it again with --record`;
  }

  #others(prefix: string): number {
    try {
      return readdirSync(this.#directory).filter((name) => name.startsWith(prefix)).length;
    } catch {
      return 0;
    }
  }

  /** The prompt as people read it, with credentials masked. */
  #readable(prompt: readonly Message[]): JsonValue {
    return JSON.parse(this.#redact(JSON.stringify(readablePrompt(prompt)))) as JsonValue;
  }
}

function filePrefix({ functionName, client }: RecordingKey): string {
  // A shorthand such as `openai/gpt-4o` is not a file name. The digest distinguishes clients whose names become equal.
  return `${functionName}.${client.replaceAll(/[^\w-]/gu, '-')}.`;
}

function fileName(key: RecordingKey, prompt: JsonValue): string {
  const digest = hash('sha256', JSON.stringify([key.functionName, key.client, prompt]));
  return `${filePrefix(key)}${digest.slice(0, 16)}.json`;
}

function replyData({ text, latencyMs, model, inputTokens, outputTokens }: RecordedReply): JsonObject {
  return {
    text,
    latency_ms: latencyMs,
    ...(model !== undefined && { model }),
    ...(inputTokens !== undefined && { input_tokens: inputTokens }),
    ...(outputTokens !== undefined && { output_tokens: outputTokens }),
  };
}

function repliesIn(content: unknown): readonly RecordedReply[] | undefined {
  if (!isJsonObject(content) || content['format'] !== FORMAT || !Array.isArray(content['replies'])) return undefined;
  const replies = content['replies'].map(replyIn);
  return replies.every((reply) => reply !== undefined) ? replies : undefined;
}

function replyIn(data: unknown): RecordedReply | undefined {
  if (!isJsonObject(data)) return undefined;
  const { text, latency_ms: latencyMs, model, input_tokens: inputTokens, output_tokens: outputTokens } = data;
  if (typeof text !== 'string' || typeof latencyMs !== 'number') return undefined;
  return {
    text,
    latencyMs,
    ...(typeof model === 'string' && { model }),
    ...(typeof inputTokens === 'number' && { inputTokens }),
    ...(typeof outputTokens === 'number' && { outputTokens }),
  };
}

/** A prompt as JSON data for people: the content of media is replaced by its digest and size. */
export function readablePrompt(prompt: readonly Message[]): readonly JsonObject[] {
  return prompt.map(({ role, parts }) => ({ role, parts: parts.map(readablePart) }));
}

function readablePart(part: MessagePart): JsonObject {
  const metadata = part.metadata === undefined ? {} : { metadata: part.metadata };
  if (part.kind === 'text') return { text: part.text, ...metadata };
  const { media, source } = part;
  const type = source.mediaType === undefined ? {} : { media_type: source.mediaType };
  if (source.kind === 'url') return { [media]: { url: source.url, ...type }, ...metadata };
  const content = Buffer.from(source.data, 'base64');
  return { [media]: { sha256: hash('sha256', content), bytes: content.length, ...type }, ...metadata };
}
