import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

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
}

/** More than are ever in flight at the rates used here. */
const CONNECTIONS = 64;

/** A load whose calls start at a fixed rate, whether or not earlier calls have been answered. */
export interface OpenLoad {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Latency counts from the moment when a call is sent. Throws if a call fails. */
export async function openLoop({ url, perSecond, seconds }: OpenLoad): Promise<LoadResult> {
  // In turn: a connection that stays idle is closed by the server, possibly while the next call is on its way.
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const begin = performance.now();
  const total = perSecond * seconds;
  for (let index = 0; index < total; index += 1) {
    const wait = begin + (index * 1000) / perSecond - performance.now();
    // Later calls catch up: a timer of this process has a resolution of one millisecond.
    if (wait > 0) await sleep(wait);
    calls.push(timed(url, agent, times));
  }
  await Promise.all(calls);
  agent.destroy();
  return { requests: total, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

async function timed(url: string, agent: Agent, times: number[]): Promise<void> {
  const sent = performance.now();
  await post(url, agent);
  times.push(performance.now() - sent);
}

/** Reads `requests` streams to their end, `connections` at a time (closed loop). */
export async function streamLoad({ url, connections, requests }: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const begin = performance.now();
  const times: number[] = [];
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      await post(url, agent);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  agent.destroy();
  const seconds = (performance.now() - begin) / 1000;
  return { requests, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** The whole body of one answer; rejects unless its status is 200. */
export function post(url: string, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: HEADERS, agent, timeout: REQUEST_TIMEOUT_SECONDS * 1000 });
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
    call.end(BODY);
  });
}

/** Nearest rank; 0 for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
