import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { PlaygroundDocument } from '../../schema/playground-document.ts';
import type { ServerConnection } from '../server/connection.ts';
import type { ErrorBody } from '../server/wire.ts';

export interface KnownServer {
  /** The last document; kept while the server does not answer. */
  readonly document?: PlaygroundDocument;
  /** The server requires a key; `refused`: another one than it got. */
  readonly key?: 'required' | 'refused';
  /** The number of times that the program changed while the page was open. */
  readonly reloads: number;
  readonly problem?: ErrorBody;
}

export interface Server extends KnownServer {
  readonly connection: ServerConnection;
  /** Tries a key that the user entered. */
  readonly enterKey: (key: string) => void;
}

/** How often the page looks for a new program while it is visible; an answer without news has no body. */
const POLL_MS = 1_000;

/** Loads the description of the program, and again whenever it changes. */
export function useServer(connection: ServerConnection): Server {
  const [state, setState] = useState<KnownServer>({ reloads: 0 });
  const etag = useRef<string | undefined>(undefined);
  const load = useCallback(async () => {
    const answer = await connection.get<PlaygroundDocument>('playground/program.json', { etag: etag.current });
    if (answer === undefined) setState(withoutProblem);
    else if (answer.ok) {
      etag.current = answer.headers.get('etag') ?? undefined;
      setState((before) => loaded(before, answer.value));
    } else if (answer.problem.error === 'Unauthorized') {
      setState({ key: connection.key === '' ? 'required' : 'refused', reloads: 0 });
    } else setState((before) => ({ ...before, problem: answer.problem }));
  }, [connection]);
  const locked = state.key !== undefined;
  useEffect(() => (locked ? undefined : repeatWhileVisible(load, POLL_MS)), [load, locked]);
  const enterKey = (key: string): void => {
    connection.key = key;
    etag.current = undefined;
    void load();
  };
  return { ...state, connection, enterKey };
}

function loaded({ document: before, reloads }: KnownServer, document: PlaygroundDocument): KnownServer {
  const changed = before !== undefined && before.program !== document.program;
  return { document, reloads: changed ? reloads + 1 : reloads };
}

/** Keeps the same object if there was no problem, so that nothing renders again. */
function withoutProblem(before: KnownServer): KnownServer {
  if (before.problem === undefined) return before;
  const { problem: _problem, ...rest } = before;
  return rest;
}

/** Calls `load` now, at an interval while the page is visible, and as soon as the user comes back to it. */
export function repeatWhileVisible(load: () => Promise<void>, intervalMs: number): () => void {
  let timer = 0;
  let loading = false;
  let ended = false;
  const next = async (): Promise<void> => {
    if (loading) return;
    clearTimeout(timer);
    loading = true;
    if (document.visibilityState === 'visible') await load();
    loading = false;
    if (!ended) timer = setTimeout(() => void next(), intervalMs);
  };
  const onVisible = (): void => {
    if (document.visibilityState === 'visible') void next();
  };
  void next();
  document.addEventListener('visibilitychange', onVisible);
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisible);
  };
}
