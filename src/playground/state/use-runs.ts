import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Explanation } from '../../schema/explanation.ts';
import {
  clientLabel,
  requestBody,
  requestOptions,
  type ClientChoice,
  isRunning,
  type Run,
  type RunChange,
  growth,
} from '../data/run.ts';
import { type ServerConnection, answerOf, errorBodyOf, networkProblem } from '../server/connection.ts';
import type { ErrorBody, StreamEvent, Trace } from '../server/wire.ts';
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

/** The runs of this page, of which it shows the newest one of the function until the user selects another one. */
export function useRuns(connection: ServerConnection, selected: string): Runs {
  const [all, setAll] = useState<readonly Run[]>([]);
  const [selection, setSelection] = useState<Selection>({ of: '', ids: [] });
  const lastId = useRef(0);
  const aborts = useRef(new Set<AbortController>());
  const change = useBatchedChanges(setAll);
  const startOne = (draft: Draft, choice: ClientChoice): Run => {
    lastId.current += 1;
    const run = newRun(draft, choice, lastId.current);
    const abort = new AbortController();
    aborts.current.add(abort);
    const { functionName, id, mode } = run;
    const body = tracedBody(draft, choice);
    const request = { connection, functionName, mode, body, signal: abort.signal };
    void runFunction(request, (made) => change(id, made)).then(() => aborts.current.delete(abort));
    return run;
  };
  const show = (ids: readonly number[]): void => setSelection({ of: selected, ids });
  const start = (draft: Draft): void => {
    const choices = draft.other === undefined ? [draft.client] : [draft.client, draft.other];
    const runs = choices.map((choice) => startOne(draft, choice));
    setAll((before) => [...runs, ...before].slice(0, MOST_RUNS));
    show(runs.map(({ id }) => id));
  };
  const stop = (): void => {
    for (const abort of aborts.current) abort.abort();
  };
  const shown = useMemo(() => {
    if (selection.of !== selected) return all.filter(({ functionName }) => functionName === selected).slice(0, 1);
    return selection.ids.flatMap((id) => all.filter((run) => run.id === id));
  }, [all, selection, selected]);
  return { all, shown, show, start, stop };
}

/** The runs to show while this function is selected. */
interface Selection {
  readonly of: string;
  readonly ids: readonly number[];
}

function newRun(draft: Draft, choice: ClientChoice, id: number): Run {
  const { args, fn, mode } = draft;
  const client = clientLabel(choice, fn);
  const start = { startedAt: new Date(), functionName: fn.name, state: 'waiting' } as const;
  return { id, ...start, args, mode, choice, client, partials: 0, resets: 0, reply: '', elapsedMs: 0 };
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

interface RunRequest extends Pick<Run, 'functionName' | 'mode'> {
  readonly connection: ServerConnection;
  /** The arguments, with options that ask for the trace. */
  readonly body: JsonObject;
  readonly signal: AbortSignal;
}

type ChangeRun = (change: RunChange | ((run: Run) => RunChange)) => void;

/** Runs a function, then asks how svc read the reply. Never rejects. */
async function runFunction(request: RunRequest, change: ChangeRun): Promise<void> {
  const reply = await (request.mode === 'call' ? call(request, change) : stream(request, change));
  if (reply === undefined || reply === '') return;
  const explanation = await fetchExplanation(request, reply);
  if (explanation !== undefined) change({ explanation });
}

/** Resolves with the reply of the model, if there was one. */
async function call(
  { connection, functionName, body, signal }: RunRequest,
  change: ChangeRun,
): Promise<string | undefined> {
  const answer = await connection.post<{ readonly value: JsonValue; readonly trace?: Trace }>(
    `call/${functionName}`,
    body,
    signal,
  );
  if (!answer.ok) return fail(answer.problem, change);
  const { trace, value } = answer.value;
  return done({ value }, trace, change);
}

async function stream(request: RunRequest, change: ChangeRun): Promise<string | undefined> {
  const { connection, functionName, body, signal } = request;
  const response = await connection.open(`stream/${functionName}`, body, signal);
  const isStream =
    response instanceof Response && response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) {
    const answer = await answerOf<unknown>(response);
    return fail(answer.ok ? errorBodyOf(undefined, 200) : answer.problem, change);
  }
  let ended: { readonly reply: string | undefined } | undefined;
  try {
    await readEvents(response.body, (data) => {
      const event = JSON.parse(data) as StreamEvent;
      if ('final_result' in event || 'error' in event) ended = { reply: end(event, change) };
      else change((run) => growth(event, run));
    });
  } catch (error) {
    return fail(networkProblem(error), change);
  }
  return ended === undefined
    ? fail({ error: 'network', message: 'The stream ended without a last message.' }, change)
    : ended.reply;
}

function end(
  event: Extract<StreamEvent, { final_result: unknown }> | ErrorBody,
  change: ChangeRun,
): string | undefined {
  if ('error' in event) return fail(event, change);
  return done({ value: event.final_result }, event.trace, change);
}

function done(value: Pick<RunChange, 'value'>, trace: Trace | undefined, change: ChangeRun): string | undefined {
  const reply = trace?.reply;
  change({ state: 'done', ...value, ...(trace !== undefined && { trace }), ...(reply !== undefined && { reply }) });
  return reply;
}

function fail(problem: ErrorBody, change: ChangeRun): string | undefined {
  const { trace } = problem;
  const reply = trace?.reply ?? problem.raw_output;
  change({
    state: problem.error === 'stopped' ? 'stopped' : 'failed',
    problem,
    ...(trace !== undefined && { trace }),
    ...(reply !== undefined && { reply }),
  });
  return reply;
}

/** How the definitions of now read a reply; undefined if the server cannot explain it. */
export async function fetchExplanation(
  { connection, functionName, signal }: Pick<RunRequest, 'connection' | 'functionName' | 'signal'>,
  text: string,
): Promise<Explanation | undefined> {
  const answer = await connection.post<{ readonly explanation: Explanation }>(
    `parse/${functionName}`,
    { text, explain: true },
    signal,
  );
  return answer.ok ? answer.value.explanation : answer.problem.explanation;
}

/** Reads the data of server-sent events from a response; calls `take` with each as soon as it is complete. */
async function readEvents(body: ReadableStream<Uint8Array>, take: (data: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const events = (rest + decoder.decode(chunk.value, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split('\n').filter((line) => line.startsWith('data:'));
      if (lines.length > 0) take(lines.map((line) => line.slice(5).trimStart()).join('\n'));
    }
  }
}

/** A command line for a POSIX shell that repeats a run. It contains no keys: the user sets them as variables. */
export function curlCommand(connection: ServerConnection, { args, choice, functionName, mode }: Run): string {
  // A client that the user defined contains keys, so the command does not name it.
  const body = requestBody(args, choice.kind === 'named' ? { client: choice.name } : undefined);
  const flags = mode === 'stream' ? '-sN' : '-s';
  const key = connection.key === '' ? '' : ` -H "x-svc-api-key: $SVC_PASSWORD"`;
  const address = connection.address(`${mode}/${functionName}`);
  return `curl ${flags} ${quoted(address)} -H 'content-type: application/json'${key} -d ${quoted(JSON.stringify(body))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
