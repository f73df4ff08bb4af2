import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallContext, CallOutcome, FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { problemOf } from '../../../src/server/http/problem.ts';
import { AUTHORITY_FILE } from '../../support/certificates.ts';
import {
  FAULT_GROUPS,
  FaultyProviders,
  MODES,
  cellsOf,
  limitThatEnded,
  type CellEnd,
  type FaultCell,
  type HttpVersion,
  type Strategy,
} from '../../support/fault-cells.ts';
import { pageRows, rowOf, rowOnPage } from '../../support/fault-page.ts';
import { REPLY_TEXT, type UpstreamFault } from '../../support/fault-steps.ts';
import { waitUntil } from '../../support/load.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { callContext, callFunction, testRuntime } from '../../support/test-runtime.ts';

/** None of these looks like a key, so that only their values can give them away. */
const CANARIES = { KEY: 'canary-one-8417', HEADER_KEY: 'canary-two-8417', QUERY_KEY: 'canary-three-8417' };

/** Declares the tests of all rows of the page, which `UPDATE_DOCS=1` writes, over a version of HTTP. Each version has a file, so that both can wait at the same time. */
export function testFaults(version: HttpVersion): void {
  // Rows that wait for a limit need hardly any work: all of them begin at the same time.
  vi.setConfig({ maxConcurrency: 30 });
  const faults = FAULT_GROUPS[version].flatMap((group) => group.faults);
  const rows = FAULT_GROUPS[version].flatMap((group) =>
    group.faults.map((fault) => ({ name: fault.name, fault, group })),
  );
  const hanging = faults.filter(({ limits }) => limits !== undefined);
  const log = recordingLogger();
  let providers: FaultyProviders;
  let runtime: FunctionRuntime;

  beforeAll(async () => {
    providers = await FaultyProviders.start(version);
    runtime = testRuntime(
      providers.definitions(),
      { ...CANARIES, SSL_CERT_FILE: AUTHORITY_FILE },
      { logger: log.logger },
    );
  });
  afterAll(() => providers.close());
  runOnOwnClock(() => providers.traffic);

  /** Floods share the room for large replies; the end of a kept connection must not wait for the other rows. */
  const runsAlone = ({ fault }: (typeof rows)[number]): boolean => fault.floods === true || fault.secondUse === true;

  const together = rows.filter((row) => !runsAlone(row));
  test.concurrent.each(together.filter(({ fault }) => fault.limits !== undefined))('$name', endsAsThePageStates);

  test.each(rows.filter(runsAlone))('$name', endsAsThePageStates);

  test.concurrent.each(together.filter(({ fault }) => fault.limits === undefined))('$name', endsAsThePageStates);

  test('the page has the same rows as the list of faults, in the same order', () => {
    expect(faults.length).toBeGreaterThanOrEqual(75);
    for (const group of FAULT_GROUPS[version]) {
      expect([...(pageRows().get(group.title)?.keys() ?? [])]).toEqual(group.faults.map((fault) => fault.name));
    }
  });

  async function endsAsThePageStates({ fault, group }: (typeof rows)[number]): Promise<void> {
    if (fault.secondUse === true) {
      await runsOf(fault);
      providers.of(fault).resetConnections();
    }
    const runs = await runsOf(fault);
    const row = rowOf(
      fault,
      runs.map(({ end }) => end),
    );
    expect(row).toBe(rowOnPage(group, fault, row));
    if (fault.limits !== undefined) {
      // A call without a second attempt ends at the limit, not before.
      for (const { end, ms } of runs.filter(({ strategy }) => strategy === 'Alone')) {
        expect(ms).toBeGreaterThanOrEqual(limitThatEnded(fault, end));
      }
    }
    const provider = providers.of(fault);
    await waitUntil('every request to be answered', () => provider.unanswered === 0);
  }

  test('the fault of a kept connection happens on a connection that was used before', () => {
    const fault = faults.find((each) => each.secondUse === true);
    // Six cells, twice: the second ones cannot use the connections of the first ones.
    expect(fault && providers.of(fault).requests.length).toBe(12);
    expect(fault && providers.of(fault).connections).toBeGreaterThanOrEqual(2);
  });

  test('the deadline of the call ends every fault that hangs', async () => {
    await Promise.all(hanging.filter(({ floods }) => floods !== true).map(endsAtTheDeadline));
    for (const fault of hanging.filter(({ floods }) => floods === true)) await endsAtTheDeadline(fault);
  });

  async function endsAtTheDeadline(fault: UpstreamFault): Promise<void> {
    for (const mode of MODES) {
      const { end } = await timed({ fault, mode, strategy: 'Retry' }, callContext(150));
      expect(end.failure, `${fault.name}, ${mode}`).toEqual({ status: 504, timer: 'total' });
      // Node 24 notices on the next request that half of a header block is on the connection.
      providers.of(fault).resetConnections();
    }
  }

  test('under a short deadline no other limit ends a call', async () => {
    for (const fault of faults.filter(({ limits }) => limits === undefined)) {
      for (const mode of MODES) {
        const { end } = await timed({ fault, mode, strategy: 'Retry' }, callContext(150));
        expect(end.failure?.timer ?? 'total', `${fault.name}, ${mode}`).toBe('total');
      }
    }
  });

  test.each(hanging.filter((fault) => fault.unasked !== true && fault.deaf !== true))(
    '$name: who leaves takes the request along',
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
        await waitUntil('the end of its connection or stream', () => provider.abandoned.length > before);
      }
    },
  );

  test('no key is in any failure or log line, though the providers quoted all of them', () => {
    expect(log.lines.length).toBeGreaterThan(faults.length);
    for (const canary of Object.values(CANARIES)) {
      expect(log.lines.filter((line) => line.includes(canary))).toEqual([]);
    }
  });

  test('afterwards no timer is active, and close ends all connections', async () => {
    await runtime.close();
    await waitUntil('the end of all connections', () => providers.openSockets === 0);
    await waitUntil('the end of the last timers', () => vi.getTimerCount() === 0);
    expect(providers.openSockets).toBe(0);
  });

  function runsOf(fault: UpstreamFault): Promise<readonly TimedEnd[]> {
    return providers.play(fault, cellsOf(fault), (cell) => timed(cell));
  }

  async function timed(cell: FaultCell, context = callContext(120_000)): Promise<TimedEnd> {
    const startedAt = performance.now();
    const outcome = await play(cell, context);
    const ms = performance.now() - startedAt;
    for (const canary of Object.values(CANARIES)) expect(JSON.stringify(outcome.result)).not.toContain(canary);
    return { strategy: cell.strategy, end: endOf(outcome), ms };
  }

  async function play({ fault, mode, strategy }: FaultCell, context: CallContext): Promise<CallOutcome> {
    const name = providers.functionName(fault, strategy);
    const body = { cell: await providers.begin(fault) };
    if (mode === 'call') return callFunction(runtime, name, body, context);
    const prepared = runtime.prepare(name, body);
    if (!prepared.ok) throw new Error(prepared.failure.message);
    return new Promise((resolve) => {
      runtime.stream(prepared.value, context, { text: () => {}, reasoning: () => {}, reset: () => {}, ended: resolve });
    });
  }
}

interface TimedEnd {
  readonly strategy: Strategy;
  readonly end: CellEnd;
  readonly ms: number;
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
