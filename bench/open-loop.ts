import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { post, quantile, type LoadResult } from './load.ts';

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
