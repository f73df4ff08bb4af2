import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import type { StoreHealth } from '../../src/policy/store/store.ts';
import { type Backends, memoryBackends } from '../../src/server/shared-state.ts';
import { ClusterMetrics } from '../../src/server/metrics/cluster-metrics.ts';
import type { Envelope, MetricData, PrimaryMessage, WorkerMessage } from '../../src/server/protocol.ts';
import { Supervisor, type ServedProgram } from '../../src/server/supervisor.ts';

/** A process that records the messages that it receives. */
class FakeProcess extends EventEmitter {
  readonly #received: PrimaryMessage[] = [];
  readonly process: { readonly pid: number; kill(): void };

  constructor(pid: number) {
    super();
    this.process = { pid, kill: () => this.exit(null, 'SIGKILL') };
  }

  /** After the end of this turn of the event loop, when messages leave. */
  get received(): readonly PrimaryMessage[] {
    vi.advanceTimersByTime(0);
    return this.#received;
  }

  isConnected(): boolean {
    return true;
  }

  send({ svc: messages }: Envelope<PrimaryMessage>): void {
    this.#received.push(...messages);
  }

  says(...messages: readonly WorkerMessage[]): void {
    this.emit('message', { svc: messages });
  }

  exit(code: number | null, signal: string | null = null): void {
    this.emit('exit', code, signal);
  }

  got(type: PrimaryMessage['type']): number {
    return this.received.filter((message) => message.type === type).length;
  }
}

const world = vi.hoisted(() => ({ processes: [] as unknown[], fails: false }));
vi.mock('node:cluster', () => ({
  default: {
    setupPrimary: () => undefined,
    fork: () => {
      if (world.fails) throw new Error('spawn ENOMEM');
      const process = new FakeProcess(world.processes.length + 1);
      world.processes.push(process);
      return process;
    },
  },
}));

beforeEach(() => {
  world.processes.length = 0;
  world.fails = false;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function processes(): readonly FakeProcess[] {
  return world.processes as FakeProcess[];
}

function createSupervisor(others: Partial<Backends> = {}): {
  readonly supervisor: Supervisor;
  readonly program: ServedProgram;
} {
  const loaded = loadConfig({ dotenv: false }, { variables: {}, limits: { cores: 2 } });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  const { config } = loaded.value;
  const program = { path: '/nowhere', config, validators: async () => '', types: async () => undefined };
  const metrics = new ClusterMetrics();
  const backends = { ...memoryBackends(config), ...others };
  const options = { config, port: 1, program, version: '1', logger: silentLogger, metrics, backends };
  return { supervisor: new Supervisor(options), program };
}

const HEARTBEAT: WorkerMessage = {
  type: 'heartbeat',
  inFlight: 1,
  rssBytes: 1,
  lagSeconds: 0.5,
  load: { connections: 4, busy: 1 },
  failures: [],
  keys: [],
};

/** The worker loads the program and listens. */
function serve(process: FakeProcess | undefined): void {
  process?.says({ type: 'hello' }, { type: 'ready' }, { type: 'listening', transport: 'uws' });
}

async function started(backends: Partial<Backends> = {}): Promise<ReturnType<typeof createSupervisor>> {
  const created = createSupervisor(backends);
  const start = created.supervisor.start();
  for (const process of processes().slice()) serve(process);
  expect(await start).toEqual({ ok: true, value: undefined });
  vi.advanceTimersByTime(1_000);
  processes()[2]?.says({ type: 'hello' }, { type: 'ready' });
  return created;
}

test('a start ends when all workers listen; only the first logs missing credentials, and the spare one does not listen', async () => {
  const { supervisor } = await started();
  expect(processes().map((process) => process.got('start'))).toEqual([1, 1, 1]);
  expect(processes().map((process) => process.got('listen'))).toEqual([1, 1, 0]);
  expect(processes().map((process) => process.got('report-start'))).toEqual([1, 0, 0]);
  expect(supervisor.transport).toBe('uws');
});

test('a start that the system refuses ends with its reason', async () => {
  world.fails = true;
  const start = createSupervisor().supervisor.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await start).toEqual({ ok: false, failure: 'a worker could not be started: spawn ENOMEM' });
});

test('a worker that asks gets the state of all workers, as of their last heartbeats', async () => {
  await started();
  const [first, second] = processes();
  const failure = { client: 'Fast', error: 'timeout', at: 5 } as const;
  second?.says({ ...HEARTBEAT, inFlight: 4, rssBytes: 9, lagSeconds: 0.25, failures: [failure] });
  first?.says({ type: 'ask-state', id: 3 });
  await vi.waitFor(() => expect(first?.got('answer')).toBe(1));
  expect(first?.received.at(-1)).toMatchObject({
    type: 'answer',
    id: 3,
    value: {
      workers: [
        { number: 1, pid: 1, state: 'serving' },
        { number: 2, pid: 2, state: 'serving', inFlight: 4, rssBytes: 9, lagSeconds: 0.25 },
        { number: 3, pid: 3, state: 'spare' },
      ],
      failures: [failure],
    },
  });
});

test('a worker that is silent for nine seconds is killed, and the spare one takes its place', async () => {
  await started();
  const [first, second, spare] = processes();
  for (let seconds = 0; seconds < 10; seconds += 1) {
    second?.says(HEARTBEAT);
    spare?.says(HEARTBEAT);
    vi.advanceTimersByTime(1_000);
  }
  expect(first?.got('listen')).toBe(1);
  expect(spare?.got('listen')).toBe(1);
  expect(processes()).toHaveLength(4);
});

test('the delay of the primary itself is not counted as the silence of a worker', async () => {
  await started();
  const [first] = processes();
  const clock = performance.now.bind(performance);
  let delayMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + delayMs);
  for (let tick = 0; tick < 7; tick += 1) {
    delayMs += 2_000;
    vi.advanceTimersByTime(1_000);
  }
  expect(first?.got('drain')).toBe(0);
  expect(processes()).toHaveLength(3);
  vi.advanceTimersByTime(2_000);
  expect(processes().length).toBeGreaterThan(3);
});

test('a reload moves all workers to the new program, and resolves when they serve it', async () => {
  const { supervisor, program } = await started();
  const reloaded = supervisor.reload({ ...program, path: '/elsewhere' });
  serve(processes()[3]);
  serve(processes()[4]);
  expect(await reloaded).toBe(true);
  const [first, second, , third] = processes();
  expect([first?.got('drain'), second?.got('drain')]).toEqual([1, 1]);
  expect(third?.received.find((message) => message.type === 'start')).toMatchObject({ programPath: '/elsewhere' });
  expect(third?.got('report-start')).toBe(1);
});

test('a reload whose first worker fails resolves with false, and a new spare worker loads the old program', async () => {
  const { supervisor, program } = await started();
  const reloaded = supervisor.reload({ ...program, path: '/elsewhere' });
  processes()[3]?.says({ type: 'hello' }, { type: 'failed', reason: 'a bad program' });
  processes()[3]?.exit(1);
  expect(await reloaded).toBe(false);
  vi.advanceTimersByTime(100);
  processes()[4]?.says({ type: 'hello' });
  expect(processes()[4]?.received[0]).toMatchObject({ type: 'start', programPath: '/nowhere' });
});

test('turns of a round-robin client are counted over all workers', async () => {
  await started();
  const [first, second] = processes();
  first?.says({ type: 'take-turn', id: 1, client: 'A' });
  second?.says({ type: 'take-turn', id: 1, client: 'A' }, { type: 'take-turn', id: 2, client: 'B' });
  await vi.waitFor(() => expect(second?.got('answer')).toBe(2));
  expect(first?.received.at(-1)).toEqual({ type: 'answer', id: 1, value: 0 });
  expect(second?.received.slice(-2)).toEqual([
    { type: 'answer', id: 1, value: 1 },
    { type: 'answer', id: 2, value: 0 },
  ]);
});

test('a worker gets the reason why there is no answer', async () => {
  await started({ openAnswers: () => Promise.reject(new Error('no code')) });
  const [first] = processes();
  first?.says({ type: 'claim-answer', id: 4, key: 'a', waitMs: 1 });
  await vi.waitFor(() => expect(first?.got('answer')).toBe(1));
  expect(first?.received.at(-1)).toEqual({ type: 'answer', id: 4, failure: 'no code' });
});

test('workers get the state of the store when they start, and at each change', async () => {
  const listeners: Array<(health: StoreHealth) => void> = [];
  const down: StoreHealth = { state: 'down', reason: 'ECONNREFUSED', machines: 1 };
  const onChange = (listener: (health: StoreHealth) => void): void => void listeners.push(listener);
  const store = { health: down, onChange, metrics: () => [], close: async () => undefined };
  const { supervisor } = createSupervisor({ store });
  void supervisor.start();
  const [first] = processes();
  first?.says({ type: 'hello' });
  expect(first?.received.at(-1)).toMatchObject({ type: 'start', news: { store: down } });
  const up: StoreHealth = { state: 'up', machines: 2 };
  listeners[0]?.(up);
  expect(first?.received.at(-1)).toEqual({ type: 'news', news: { store: up } });
});

test('a busy worker that has more connections than the others for two heartbeats hands some over', async () => {
  await started();
  const [first, second, spare] = processes();
  const beat = (): void => {
    second?.says({ ...HEARTBEAT, load: { connections: 2, busy: 1 } });
    first?.says({ ...HEARTBEAT, load: { connections: 7, busy: 1 } });
  };
  beat();
  expect(first?.got('hand-over-connections')).toBe(0);
  beat();
  expect(first?.received.at(-1)).toEqual({ type: 'hand-over-connections', count: 2 });
  expect([second?.got('hand-over-connections'), spare?.got('hand-over-connections')]).toEqual([0, 0]);
});

function calls(value: number): readonly MetricData[] {
  return [{ name: 'calls', help: 'h', type: 'counter', aggregator: 'sum', values: [{ labels: {}, value }] }];
}

test('the metrics of the whole server are collected from all workers that serve', async () => {
  await started();
  const [first, second] = processes();
  first?.says({ type: 'merge-metrics', id: 7, format: 'prometheus' });
  const id = first?.received.findLast((message) => message.type === 'collect-metrics')?.id ?? -1;
  first?.says({ type: 'metrics', id, metrics: calls(2) });
  second?.says({ type: 'metrics', id, metrics: calls(3) });
  await vi.waitFor(() => expect(first?.got('answer')).toBe(1));
  expect(first?.received.at(-1)).toMatchObject({ id: 7, value: expect.stringContaining('calls 5') as string });
});

test('a drain resolves when every worker has exited, and counts the cut requests', async () => {
  const { supervisor } = await started();
  const drained = supervisor.drain();
  const [first, second, spare] = processes();
  expect([first?.got('drain'), second?.got('drain'), spare?.got('drain')]).toEqual([1, 1, 0]);
  first?.says({ type: 'drained', cut: 2 });
  first?.exit(0);
  second?.says({ type: 'drained', cut: 1 });
  second?.exit(0);
  await drained;
  expect(supervisor.cut).toBe(3);
  expect(processes()).toHaveLength(3);
});

test('a worker that does not finish its drain is killed', async () => {
  const { supervisor } = await started();
  const drained = supervisor.drain();
  processes()[0]?.exit(0);
  await vi.advanceTimersByTimeAsync(120_000);
  await drained;
  expect(processes()).toHaveLength(3);
});
