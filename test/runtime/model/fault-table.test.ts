import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallContext, CallOutcome, FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { problemOf } from '../../../src/server/http/problem.ts';
import { FaultyProviders, MODES, cellsOf, functionName, limitThatEnded } from '../../support/fault-cells.ts';
import type { CellEnd, FaultCell } from '../../support/fault-cells.ts';
import { pageRows, rowOf } from '../../support/fault-page.ts';
import { waitUntil } from '../../support/load.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { callContext, callFunction, testRuntime } from '../../support/test-runtime.ts';
import { FAULTS, FAULT_GROUPS, REPLY_TEXT } from '../../support/upstream-faults.ts';
import type { UpstreamFault } from '../../support/upstream-faults.ts';

/** None of these looks like a key, so that only their values can give them away. */
const CANARIES = { KEY: 'canary-one-8417', HEADER_KEY: 'canary-two-8417', QUERY_KEY: 'canary-three-8417' };

const HANGING = FAULTS.filter(({ limits }) => limits !== undefined);

const PAGE = pageRows();

let providers: FaultyProviders;
let runtime: FunctionRuntime;
const log = recordingLogger();

beforeAll(async () => {
  providers = await FaultyProviders.start();
  runtime = testRuntime(providers.definitions(), CANARIES, { logger: log.logger });
});
afterAll(() => providers.close());

test('the page has the same rows as the list of faults, in the same order', () => {
  expect(FAULTS.length).toBeGreaterThanOrEqual(70);
  for (const { title, faults } of FAULT_GROUPS) {
    expect([...(PAGE.get(title)?.keys() ?? [])]).toEqual(faults.map((fault) => fault.name));
  }
});

const ROWS = FAULT_GROUPS.flatMap(({ title, faults }) =>
  faults.map((fault) => ({ name: fault.name, fault, row: PAGE.get(title)?.get(fault.name) })),
);

test.concurrent.each(ROWS.filter(({ fault }) => fault.floods !== true))('$name', endsAsThePageStates);

// Floods share the room for large replies, so they come one by one.
test.each(ROWS.filter(({ fault }) => fault.floods === true))('$name', endsAsThePageStates);

async function endsAsThePageStates({ fault, row }: (typeof ROWS)[number]): Promise<void> {
  if (fault.secondUse === true) await endsOf(fault);
  expect(rowOf(fault, await endsOf(fault))).toBe(row);
  const provider = providers.of(fault);
  await waitUntil('every request to be answered', () => provider.unanswered === 0);
}

test('the fault of a kept connection happens on a connection that was used before', () => {
  const fault = FAULTS.find((each) => each.secondUse === true);
  const requests = fault === undefined ? [] : providers.of(fault).requests;
  // Six cells, twice; the second time, each request is sent at least once more.
  expect(requests.length).toBeGreaterThanOrEqual(18);
});

test.concurrent.each(HANGING)('$name: ends at its limit, not before', async (fault) => {
  const runs = await Promise.all(MODES.map((mode) => timed({ fault, mode, strategy: 'Alone' })));
  for (const { end, ms } of runs) expect(ms).toBeGreaterThanOrEqual(limitThatEnded(fault, end) / 2);
});

test('the deadline of the call ends every fault that hangs', async () => {
  for (const fault of HANGING) {
    for (const mode of MODES) {
      const { end } = await timed({ fault, mode, strategy: 'Retry' }, callContext(150));
      expect(end.failure, `${fault.name}, ${mode}`).toEqual({ status: 504, timer: 'total' });
    }
  }
});

test('under a short deadline no other limit ends a call', async () => {
  for (const fault of FAULTS.filter(({ limits }) => limits === undefined)) {
    for (const mode of MODES) {
      const { end } = await timed({ fault, mode, strategy: 'Retry' }, callContext(150));
      expect(end.failure?.timer ?? 'total', `${fault.name}, ${mode}`).toBe('total');
    }
  }
});

test.each(HANGING.filter((fault) => fault.leads === undefined))(
  '$name: who leaves takes the connection along',
  async (fault) => {
    const provider = providers.of(fault);
    for (const mode of MODES) {
      await waitUntil('the end of earlier requests', () => provider.unanswered === 0);
      const [asked, before] = [provider.requests.length, provider.abandoned.length];
      const cancellation = new Cancellation();
      const run = timed({ fault, mode, strategy: 'Alone' }, callContext(120_000, cancellation));
      await waitUntil('the request', () => provider.requests.length > asked);
      cancellation.cancel('left');
      expect((await run).end.failure?.status).toBe(499);
      await waitUntil('the end of its connection', () => provider.abandoned.length > before);
    }
  },
);

test('no key is in any failure or log line, though the providers quoted all of them', () => {
  expect(log.lines.length).toBeGreaterThan(FAULTS.length);
  for (const canary of Object.values(CANARIES)) {
    expect(log.lines.filter((line) => line.includes(canary))).toEqual([]);
  }
});

test('afterwards no timer is active, and close ends all connections', async () => {
  await runtime.close();
  await waitUntil('the end of all connections', () => providers.openSockets === 0);
  const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout');
  // The test runner has one timer for this test.
  expect(timers.length).toBeLessThanOrEqual(2);
});

async function endsOf(fault: UpstreamFault): Promise<readonly CellEnd[]> {
  if (fault.floods !== true) return Promise.all(cellsOf(fault).map(async (cell) => (await timed(cell)).end));
  const ends: CellEnd[] = [];
  for (const cell of cellsOf(fault)) ends.push((await timed(cell)).end);
  return ends;
}

async function timed(
  cell: FaultCell,
  context = callContext(120_000),
): Promise<{ readonly end: CellEnd; readonly ms: number }> {
  const startedAt = performance.now();
  const outcome = await play(cell, context);
  const ms = performance.now() - startedAt;
  for (const canary of Object.values(CANARIES)) expect(JSON.stringify(outcome.result)).not.toContain(canary);
  return { end: endOf(outcome), ms };
}

function play(cell: FaultCell, context: CallContext): Promise<CallOutcome> {
  const name = functionName(cell.fault, cell.strategy);
  const body = { cell: providers.nextCell() };
  if (cell.mode === 'call') return callFunction(runtime, name, body, context);
  const prepared = runtime.prepare(name, body);
  if (!prepared.ok) throw new Error(prepared.failure.message);
  return new Promise((resolve) => {
    runtime.stream(prepared.value, context, { text: () => {}, reset: () => {}, ended: resolve });
  });
}

function endOf({ result, report }: CallOutcome): CellEnd {
  const attempts = report.attempts.length;
  if (result.ok) {
    expect(JSON.parse(result.value.json)).toBe(REPLY_TEXT);
    return { attempts };
  }
  const { failure } = result;
  const { status } = problemOf(failure);
  if (failure.code === 'timeout') return { attempts, failure: { status, timer: failure.timer } };
  const upstream = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
  return { attempts, failure: upstream === undefined ? { status } : { status, upstreamStatus: upstream } };
}
