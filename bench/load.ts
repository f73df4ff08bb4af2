import { Agent, request } from 'node:http';
import { fineCpuMicrosOf, processTree } from './process-usage.ts';

const HEADERS = { 'content-type': 'application/json' };
export const BODY = JSON.stringify({
  text: 'Dear all, please send me a copy of the notes. Ada Lovelace, ada@example.com',
});
/** Longer than any answer of any side takes, including paced streams. */
export const REQUEST_TIMEOUT_SECONDS = 60;

/** The outcome of one measurement. Times in milliseconds. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly requests: number;
  /** In place of the usual ones. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads `requests` streams to their end, `connections` at a time (closed loop). */
export async function streamLoad({ url, connections, requests, body, headers }: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const begin = performance.now();
  const times: number[] = [];
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      await post(url, { agent, body, headers });
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  agent.destroy();
  const seconds = (performance.now() - begin) / 1000;
  return { requests, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** The CPU time of a server and its processes under this load, in microseconds for each request. */
export async function cpuMicrosOfLoad(pid: number, load: Load): Promise<number> {
  const pids = processTree(pid);
  const before = fineCpuMicrosOf(pids);
  await streamLoad(load);
  return (fineCpuMicrosOf(pids) - before) / load.requests;
}

interface Posted {
  readonly agent?: Agent;
  readonly body?: string | undefined;
  readonly headers?: Load['headers'] | undefined;
}

/** The whole body of one answer; rejects unless its status is 200. */
export function post(url: string, { agent, body = BODY, headers = HEADERS }: Posted = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers, agent, timeout: REQUEST_TIMEOUT_SECONDS * 1000 });
    call.once('error', reject);
    call.once('timeout', () => call.destroy(new Error(`${url}: no answer`)));
    call.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${url}: status ${response.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    call.end(body);
  });
}

/** Nearest rank; 0 for no values. */
export function quantile(values: readonly number[] | Float64Array, share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
