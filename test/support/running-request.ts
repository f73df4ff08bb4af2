import type { ConnectionPools, Destination } from '../../src/runtime/model/http/connection-pools.ts';
import type { SentRequest } from '../../src/runtime/model/http/origin-pool.ts';

/** A request in flight, with its events so far. */
export interface RunningRequest extends SentRequest {
  /** `sent`, `resend` and the status, in order. */
  readonly events: readonly string[];
  readonly text: () => string;
  /** The last event: `end`, or the kind of the failure and its message. */
  readonly done: Promise<string>;
}

export interface Sending extends Partial<Destination> {
  readonly body?: string;
  /** Pauses when the headers arrive. */
  readonly pauses?: boolean;
}

export const REQUEST_BODY = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] });

/** Sends a request to an origin, without a model client. */
export function startRequest(
  pools: ConnectionPools,
  origin: string,
  { path = '/', body = REQUEST_BODY, pauses = false, ...more }: Sending & { readonly path?: string } = {},
): RunningRequest {
  const events: string[] = [];
  let text = '';
  let end: (event: string) => void = ignore;
  const done = new Promise<string>((resolve) => (end = resolve));
  const note = (event: string): void => {
    events.push(event);
  };
  const call = { path, headers: ['content-type', 'application/json', 'authorization', 'Bearer k'], body };
  const request = pools.to({ origin, guard: 'none', ...more }).send(
    call,
    {
      onSent: () => note('sent'),
      onResend: () => note('resend'),
      onHeaders: (status) => {
        note(String(status));
        if (pauses) note(`paused ${request.pause()}`);
      },
      onData: (chunk) => (text += chunk.toString()),
      onEnd: () => end('end'),
      onFailure: (failure) => end(`${failure.kind}: ${'message' in failure ? failure.message : ''}`),
    },
    false,
  );
  return {
    events,
    done,
    text: () => text,
    pause: () => request.pause(),
    rest: () => request.rest(),
    resume: () => request.resume(),
    finish: () => request.finish(),
    cancel: () => request.cancel(),
  };
}

function ignore(): void {}
