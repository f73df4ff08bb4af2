import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServerConnection } from '../server/connection.ts';
import type { ErrorBody } from '../server/wire.ts';
import { repeatWhileVisible } from './use-server.ts';

/** The newest answer to a request of the page. */
export interface NewestAnswer<T> {
  /** The key of the request that it answers; empty before the first answer. */
  readonly of: string;
  /** Kept while later requests with the same key fail. */
  readonly value?: T;
  readonly problem?: ErrorBody;
  /** The HTTP status of the problem; 0 if the server does not answer. */
  readonly status?: number;
  /** The server takes longer than a user expects. */
  readonly slow: boolean;
}

interface PageRequest {
  /** Another key is another request. */
  readonly key: string;
  /** Called for each repetition. */
  readonly path: () => string;
  /** Undefined: the page asks once. */
  readonly repeatMs?: number | undefined;
}

/** An answer from a database takes milliseconds, so that a user notices this wait. */
const SLOW_MS = 2_000;

/** Gets a document now and whenever the key changes, and returns a function that gets it again. */
export function useAnswer<T>(
  connection: ServerConnection,
  { key, path, repeatMs }: PageRequest,
): readonly [NewestAnswer<T>, () => void] {
  const [answer, setAnswer] = useState<NewestAnswer<T>>({ of: '', slow: false });
  const [revision, setRevision] = useState(0);
  const request = `${revision} ${key}`;
  const answered = useRef('');
  const newestPath = useRef(path);
  newestPath.current = path;
  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const timer = setTimeout(() => setAnswer((before) => ({ ...before, slow: true })), SLOW_MS);
      const got = await connection.get<T>(newestPath.current(), { signal: abort.signal });
      clearTimeout(timer);
      if (abort.signal.aborted || got === undefined) return;
      answered.current = request;
      if (got.ok) setAnswer({ of: key, value: got.value, slow: false });
      else {
        const { problem, status } = got;
        setAnswer((before) => ({ ...(before.of === key && before), of: key, problem, status, slow: false }));
      }
    };
    const end = repeatMs === undefined ? undefined : repeatWhileVisible(load, repeatMs);
    if (end === undefined && answered.current !== request) void load();
    return () => {
      abort.abort();
      end?.();
    };
  }, [connection, request, repeatMs]);
  return [answer, () => setRevision((before) => before + 1)];
}
