import type { JsonObject } from '../../base/json.ts';
import { growth, type Run, type RunChange } from '../data/run.ts';
import { answerOf, errorBodyOf, networkProblem, type ServerConnection } from './connection.ts';
import type { ErrorBody, ExplainedReply, StreamEvent, Trace, TracedValue } from './wire.ts';

/** A request to run a function. */
interface RunRequest extends Pick<Run, 'functionName' | 'mode'> {
  readonly connection: ServerConnection;
  /** The arguments, with options that ask for the trace. */
  readonly body: JsonObject;
  readonly signal: AbortSignal;
}

/** Called with each change of the run. */
type ChangeRun = (change: RunChange | ((run: Run) => RunChange)) => void;

/** Runs a function, then asks how svc read the reply. Never rejects. */
export async function runFunction(request: RunRequest, change: ChangeRun): Promise<void> {
  const reply = await (request.mode === 'call' ? call(request, change) : stream(request, change));
  if (reply !== undefined && reply !== '') await explain(request, reply, change);
}

/** Resolves with the reply of the model, if there was one. */
async function call(
  { connection, functionName, body, signal }: RunRequest,
  change: ChangeRun,
): Promise<string | undefined> {
  const answer = await connection.post<TracedValue>(`call/${functionName}`, body, signal);
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

async function explain(
  { connection, functionName, signal }: RunRequest,
  text: string,
  change: ChangeRun,
): Promise<void> {
  const answer = await connection.post<ExplainedReply>(`parse/${functionName}`, { text, explain: true }, signal);
  const explanation = answer.ok ? answer.value.explanation : answer.problem.explanation;
  if (explanation !== undefined) change({ explanation });
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
