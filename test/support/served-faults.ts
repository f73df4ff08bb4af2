import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUTHORITY_FILE } from './certificates.ts';
import {
  FAULT_GROUPS,
  FaultyProviders,
  cellText,
  cellsOf,
  type CellEnd,
  type FaultCell,
  type HttpVersion,
} from './fault-cells.ts';
import { pageRows, rowHere } from './fault-page.ts';
import { REPLY_TEXT, type UpstreamFault } from './fault-steps.ts';
import { childrenOf, waitUntil } from './load.ts';
import { startServer, type RunningServer } from './running-server.ts';
import { ONE_USE, readStream } from './sse.ts';
import { COMMON_FAULTS } from './upstream-faults.ts';

/** None of these looks like a key, so that only their values can give them away. */
const OF_SERVER = { KEY: 'canary-one-8417', HEADER_KEY: 'canary-two-8417', QUERY_KEY: 'canary-three-8417' };
const OF_REQUEST = { KEY: 'canary-four-8417', HEADER_KEY: 'canary-five-8417', QUERY_KEY: 'canary-six-8417' };
const OF_REGISTRY = { KEY: 'canary-seven-8417', HEADER_KEY: 'canary-eight-8417', QUERY_KEY: 'canary-nine-8417' };
const CANARIES = [OF_SERVER, OF_REQUEST, OF_REGISTRY].flatMap((keys) => Object.values(keys));

/** Rows at one time (over HTTP/2, each has one call at a time). */
const ROWS_AT_ONCE = { '1.1': 2, '2': 4 };

/** An idle worker has about 70 MB, plus one reply of 64 MiB and the remains of the last ones. */
const MOST_MEMORY_MB = 400;

const PAGE = pageRows();

/** A cell to play, and its text on the page. */
type ServedCell = FaultCell & { readonly page: string };

const COMMON = new Set<UpstreamFault>(COMMON_FAULTS.flatMap(({ faults }) => faults));

/**
 * All cells of the rows to play over a version; faults that are common to both versions are played over HTTP/1.1. A stream that returned
 * a value states no attempts: svc sent its headers before.
 */
function pageCells(version: HttpVersion): ReadonlyMap<UpstreamFault, readonly ServedCell[]> {
  const isPlayed = (fault: UpstreamFault): boolean => version === '1.1' || !COMMON.has(fault);
  return new Map(
    FAULT_GROUPS[version].flatMap(({ title, faults }) =>
      faults.filter(isPlayed).map((fault) => {
        const row = rowHere(fault, PAGE.get(title)?.get(fault.name));
        const texts = row?.replace(/ \|$/u, '').split(' | ').slice(1) ?? [];
        const cells = cellsOf(fault).map((cell, at) => {
          const text = texts[at] ?? '';
          return { ...cell, page: cell.mode === 'call' ? text : text.replace(/^value, \d+ attempts/u, 'value') };
        });
        return [fault, cells] as const;
      }),
    ),
  );
}

/**
 * The cells to play against a server. The tests of the same client in test/runtime/model play all of them. Here, one mode has a retry
 * and the other one a fallback, in turn; a flood comes in one mode.
 */
function servedCells(cells: readonly ServedCell[], at: number): readonly ServedCell[] {
  return cells.filter(({ fault, mode, strategy }) => {
    if (fault.floods === true) return strategy === 'Alone' && (mode === 'call') === (at % 2 === 0);
    if (strategy === 'Alone') return true;
    return (strategy === 'Retry') === ((mode === 'call') === (at % 2 === 0));
  });
}

/** Faults that a limit of time ends, on the clock of the server, and all others. */
type Ending = 'ends by time' | 'ends by itself';

/**
 * Declares the tests of rows of the page against a server, over a version of HTTP. Each version has a file, so that both can
 * wait at the same time. The client of the providers does not depend on the transport of the server, so each version has one.
 */
export function testServedFaults(transport: string, version: HttpVersion, ending: Ending): void {
  const onPage = new Map(
    [...pageCells(version)].filter(([{ limits }]) => (limits !== undefined) === (ending === 'ends by time')),
  );
  const all = [...onPage.keys()];
  const served = new Map([...onPage].map(([fault, cells], at) => [fault, servedCells(cells, at)]));
  let providers: FaultyProviders;
  let server: RunningServer;
  /** Everything that callers received. */
  const answers: string[] = [];

  beforeAll(async () => {
    providers = await FaultyProviders.start(version);
    server = await startServer({
      files: { 'faults.svc': providers.definitions() },
      flags: ['--log-level', 'debug', '--transport', transport, '--workers', '2', '--request-timeout', '120s'],
      env: { ...OF_SERVER, NODE_EXTRA_CA_CERTS: AUTHORITY_FILE, SVC_LOG_CONTENT: 'full', SVC_TRUST_LOOPBACK: 'true' },
    });
    // The first calls of a process take longer, because they load modules.
    await Promise.all(all.filter((fault) => fault.secondUse === true).map((fault) => endsAsOnPage(fault, onPage)));
  });
  afterAll(async () => {
    await server.stop();
    await providers.close();
  });

  test('faults end as the page states', async () => {
    const light = all.filter((fault) => fault.floods !== true);
    expect(light.length).toBeGreaterThanOrEqual(5);
    const atOnce = ending === 'ends by time' ? light.length : ROWS_AT_ONCE[version];
    await Promise.all(Array.from({ length: atOnce }, () => playInTurn(light)));
  });

  // Here, they must not fill the memory of a process.
  test('floods end as the page states, and memory stays bounded', async () => {
    const floods = all.filter((fault) => fault.floods === true);
    // Those that keep the processors busy until a limit ends them need no more time together than one.
    if (ending === 'ends by time') await Promise.all(floods.map(playRow));
    else for (const fault of floods) await playRow(fault);
    const peaks = childrenOf(server.child.pid ?? 0).map(peakMemory);
    expect(peaks.length).toBeGreaterThanOrEqual(2);
    for (const peak of peaks) expect(peak).toBeLessThan(MOST_MEMORY_MB);
    console.info(`${transport}, HTTP/${version}: peak memory of the processes (MB): ${peaks.join(', ')}`);
  });

  test('afterwards no call runs, no connection is open, and no output contains a key', async () => {
    await waitUntil('every request to be answered', () => all.every((fault) => providers.of(fault).unanswered === 0));
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^svc_requests_in_flight(\{[^}]*\})? 0$/mu);
    expect(await server.stop()).toBe(0);
    await waitUntil('the end of all connections', () => providers.openSockets === 0);
    expect(answers.length).toBeGreaterThanOrEqual(all.filter((fault) => fault.floods !== true).length * 4);
    for (const output of [server.output(), metrics, ...answers]) {
      for (const canary of CANARIES) expect(output).not.toContain(canary);
    }
    expect(server.output()).toContain('"level":"debug"');
  });

  /** Takes rows from the list until it is empty. */
  async function playInTurn(rest: UpstreamFault[]): Promise<void> {
    for (let fault = rest.shift(); fault !== undefined; fault = rest.shift()) await playRow(fault);
  }

  async function playRow(fault: UpstreamFault): Promise<void> {
    // The next calls can still find the connections of these calls, which the kernel has cut.
    if (fault.secondUse === true) {
      await providers.play(fault, cellsOf(fault), play);
      providers.of(fault).resetConnections();
    }
    await endsAsOnPage(fault, served);
  }

  async function endsAsOnPage(
    fault: UpstreamFault,
    cells: ReadonlyMap<UpstreamFault, readonly ServedCell[]>,
  ): Promise<void> {
    const own = cells.get(fault) ?? [];
    const ends = await providers.play(fault, own, play);
    expect([fault.name, ...ends.map(cellText)]).toEqual([fault.name, ...own.map(({ page }) => page)]);
  }

  async function play(cell: FaultCell): Promise<CellEnd> {
    const url = `${server.url}/${cell.mode}/${providers.functionName(cell.fault, cell.strategy)}`;
    const body = { cell: await providers.begin(cell.fault), ...ownKeys(cell) };
    return cell.mode === 'call' ? playCall(url, body) : playStream(url, body);
  }

  /** Keys come from the server, from variables of the request and from a client of the request. */
  function ownKeys({ fault, strategy }: FaultCell): object {
    if (strategy === 'Alone') return {};
    if (strategy === 'Retry') return { svc_options: { env: OF_REQUEST } };
    return { svc_options: { client_registry: providers.registryOf(fault, OF_REGISTRY) } };
  }

  async function playCall(url: string, body: object): Promise<CellEnd> {
    const headers = { 'content-type': 'application/json', ...ONE_USE };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    answers.push(headerText(response.headers), text);
    if (response.status !== 200) return failedEnd(response.status, JSON.parse(text));
    expect(JSON.parse(text)).toBe(REPLY_TEXT);
    return { attempts: Number(response.headers.get('x-svc-attempts')) };
  }

  async function playStream(url: string, body: object): Promise<CellEnd> {
    const reading = await readStream(url, body);
    answers.push(headerText(reading.headers), reading.text);
    if (reading.status !== 200) return failedEnd(reading.status, JSON.parse(reading.text));
    const last = reading.messages.at(-1)?.data as object;
    if (!('final_result' in last)) return failedEnd(undefined, last);
    expect(last.final_result).toBe(REPLY_TEXT);
    return { attempts: 0 };
  }
}

interface ErrorBody {
  readonly error: string;
  readonly upstream_status?: number;
  readonly timer?: string;
  readonly attempts?: readonly unknown[];
}

/** A stream that failed after its first text has no status of its own: its code determines the status. */
function failedEnd(status: number | undefined, body: unknown): CellEnd {
  const { error, upstream_status: upstreamStatus, timer, attempts } = body as ErrorBody;
  const failure = {
    status: status ?? (error === 'timeout' ? 504 : 502),
    ...(timer === undefined ? {} : { timer }),
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
  };
  return { attempts: attempts?.length ?? 0, failure };
}

function headerText(headers: Headers): string {
  return JSON.stringify([...headers]);
}

/** The peak memory of a process, in MB (Linux). */
function peakMemory(pid: number): number {
  const kilobytes = /VmHWM:\s*(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}
