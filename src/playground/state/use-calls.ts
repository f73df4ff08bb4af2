import { useState } from 'preact/hooks';
import type { CallPage, ListedCall } from '../../schema/kept-call.ts';
import { callsPath, fragmentOf, type Filter } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import type { ErrorBody } from '../server/wire.ts';
import { useAnswer } from './use-answer.ts';

/** The answer of the server to a request for calls. */
type CallsAnswer = CallPage & {
  /** Calls that the server could not keep since its start. */
  readonly dropped: number;
};

export interface FoundCalls {
  /** The newest first; those of the last filter while the server searches with a new one. */
  readonly calls: readonly ListedCall[];
  readonly stale: boolean;
  /** Undefined before the first answer. */
  readonly newest: CallsAnswer | undefined;
  /** The part of the search that reached furthest back. */
  readonly last: CallPage | undefined;
  readonly problem: ErrorBody | undefined;
  readonly slow: boolean;
  /** The list follows new calls. It stops when the user searches further back. */
  readonly live: boolean;
  readonly searching: boolean;
  readonly searchFurther: () => void;
  /** Forgets what was found further back, and follows new calls again. */
  readonly showNewest: () => void;
}

/** How often the list looks for new calls. */
const POLL_MS = 2_000;

interface Further {
  readonly of: string;
  readonly pages: readonly CallPage[];
  readonly searching: boolean;
  readonly problem?: ErrorBody;
}

const NOTHING: Further = { of: '', pages: [], searching: false };

/** The calls that fit a filter. While `follows` is true, new ones appear by themselves. */
export function useCalls(connection: ServerConnection, filter: Filter, follows: boolean): FoundCalls {
  const key = fragmentOf({ page: 'calls', filter });
  const [state, setFurther] = useState<Further>(NOTHING);
  const further = state.of === key ? state : NOTHING;
  const live = follows && further.pages.length === 0 && !further.searching;
  const [answer] = useAnswer<CallsAnswer>(connection, {
    key,
    path: () => callsPath(filter, Date.now()),
    repeatMs: live ? POLL_MS : undefined,
  });
  const last = further.pages.at(-1) ?? answer.value;
  const searchFurther = async (): Promise<void> => {
    if (last === undefined || last.next === null || further.searching || answer.of !== key) return;
    setFurther({ of: key, pages: further.pages, searching: true });
    const found = await connection.get<CallPage>(callsPath(filter, Date.now(), last.next));
    if (found === undefined) return;
    const more = found.ok ? { pages: [...further.pages, found.value] } : { problem: found.problem };
    setFurther((before) => (before.of === key ? { ...before, ...more, searching: false } : before));
  };
  return {
    calls: [...(answer.value?.calls ?? []), ...further.pages.flatMap(({ calls }) => calls)],
    stale: answer.of !== key,
    newest: answer.value,
    last,
    problem: further.problem ?? answer.problem,
    slow: answer.slow,
    live,
    searching: further.searching,
    searchFurther: () => void searchFurther(),
    showNewest: () => setFurther(NOTHING),
  };
}
