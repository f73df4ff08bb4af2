import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** What a link restores. It contains no keys, and no clients that the user defined, which can contain some. */
export interface LinkState {
  readonly functionName: string;
  readonly args?: JsonObject;
  readonly mode?: RunMode;
  /** The client of the definition files that the user selected; absent: the function's own. */
  readonly client?: string;
  /** The second client of a comparison. */
  readonly other?: string;
}

export type RunMode = 'call' | 'stream';

/** Longer addresses break in chats and mail programs. */
export const LONGEST_LINK = 16_000;

/** The fragment of an address, which browsers never send to a server. */
export async function linkFragment(state: LinkState): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(state));
  return `#s=${base64url(await transformed(json, new CompressionStream('deflate-raw')))}`;
}

/** The state in a fragment; undefined if it contains none. Never throws: anyone can write a link. */
export async function stateOfLink(fragment: string): Promise<LinkState | undefined> {
  const encoded = /^#s=([\w-]+)$/u.exec(fragment)?.[1];
  if (encoded === undefined || encoded.length > LONGEST_LINK) return undefined;
  try {
    const json = await transformed(bytesOf(encoded), new DecompressionStream('deflate-raw'));
    return checked(JSON.parse(new TextDecoder().decode(json)));
  } catch {
    return undefined;
  }
}

function checked(state: unknown): LinkState | undefined {
  if (!isJsonObject(state) || typeof state['functionName'] !== 'string') return undefined;
  const { functionName, args, mode, client, other } = state;
  return {
    functionName,
    ...(isJsonObject(args) && { args: args as JsonObject }),
    ...((mode === 'call' || mode === 'stream') && { mode }),
    ...(typeof client === 'string' && { client }),
    ...(typeof other === 'string' && { other }),
  };
}

/** A small link can expand to gigabytes. */
const MOST_BYTES = 4_000_000;

async function transformed(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream) {
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const [read] = await Promise.all([readAll(stream.readable), written]);
  return read;
}

async function readAll(readable: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = readable.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new Error('the content of the link is too large');
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
