import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { JsonObject } from '../../base/json.ts';
import { clientLabel, requestBody, requestOptions, type ClientChoice } from '../data/client-choice.ts';
import { isRunning, type Run, type RunChange } from '../data/run.ts';
import type { ServerConnection } from '../server/connection.ts';
import { runFunction } from '../server/run-function.ts';
import type { Draft } from './use-draft.ts';

export interface Runs {
  /** The newest first. */
  readonly all: readonly Run[];
  /** The one run to show, or the two to compare. */
  readonly shown: readonly Run[];
  readonly show: (ids: readonly number[]) => void;
  /** Runs the draft, with two clients if it compares two. */
  readonly start: (draft: Draft) => void;
  readonly stop: () => void;
}

/** Older runs are forgotten: each holds its reply and its prompt. */
const MOST_RUNS = 50;

/** The runs of this tab. */
export function useRuns(connection: ServerConnection): Runs {
  const [all, setAll] = useState<readonly Run[]>([]);
  const [ids, setIds] = useState<readonly number[]>([]);
  const lastId = useRef(0);
  const aborts = useRef(new Set<AbortController>());
  const change = useBatchedChanges(setAll);
  const startOne = (draft: Draft, choice: ClientChoice, group: number): Run => {
    lastId.current += 1;
    const run = newRun(draft, choice, { id: lastId.current, group });
    const abort = new AbortController();
    aborts.current.add(abort);
    const { functionName, id, mode } = run;
    const body = tracedBody(draft, choice);
    const request = { connection, functionName, mode, body, signal: abort.signal };
    void runFunction(request, (made) => change(id, made)).then(() => aborts.current.delete(abort));
    return run;
  };
  const start = (draft: Draft): void => {
    const choices = draft.other === undefined ? [draft.client] : [draft.client, draft.other];
    const group = lastId.current + 1;
    const runs = choices.map((choice) => startOne(draft, choice, group));
    setAll((before) => [...runs, ...before].slice(0, MOST_RUNS));
    setIds(runs.map(({ id }) => id));
  };
  const stop = (): void => {
    for (const abort of aborts.current) abort.abort();
  };
  const shown = useMemo(() => ids.flatMap((id) => all.filter((run) => run.id === id)), [all, ids]);
  return { all, shown, show: setIds, start, stop };
}

function newRun(draft: Draft, choice: ClientChoice, ids: Pick<Run, 'id' | 'group'>): Run {
  const { args, fn, mode } = draft;
  const client = clientLabel(choice, fn);
  const start = { startedAt: new Date(), functionName: fn.name, state: 'waiting' } as const;
  return { ...ids, ...start, args, mode, choice, client, partials: 0, resets: 0, reply: '', elapsedMs: 0 };
}

function tracedBody({ args, keys }: Draft, choice: ClientChoice): JsonObject {
  return requestBody(args, { ...requestOptions(choice, keys), include: ['trace'] });
}

type Change = RunChange | ((run: Run) => RunChange);

/** Collects the changes of runs, and applies them at most once per frame: a fast stream must not make the page stutter. */
function useBatchedChanges(
  setAll: (update: (before: readonly Run[]) => readonly Run[]) => void,
): (id: number, change: Change) => void {
  const waiting = useRef<Array<{ readonly id: number; readonly change: Change }>>([]);
  return useCallback(
    (id, change) => {
      waiting.current.push({ id, change });
      if (waiting.current.length > 1) return;
      requestAnimationFrame(() => {
        const changes = waiting.current.splice(0);
        setAll((before) => changes.reduce(applied, before));
      });
    },
    [setAll],
  );
}

function applied(runs: readonly Run[], { id, change }: { readonly id: number; readonly change: Change }) {
  return runs.map((run) => (run.id === id ? withChange(run, change) : run));
}

function withChange(run: Run, change: Change): Run {
  const made = typeof change === 'function' ? change(run) : change;
  const elapsedMs = isRunning(run) ? Date.now() - run.startedAt.getTime() : run.elapsedMs;
  const grew = made.value !== undefined || (made.reply ?? '') !== '';
  const firstMs = run.firstMs ?? (grew ? elapsedMs : undefined);
  return { ...run, ...made, elapsedMs, ...(firstMs !== undefined && { firstMs }) };
}
