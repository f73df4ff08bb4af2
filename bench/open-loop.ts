import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { post, quantile, type LoadResult } from './load.ts';

/** More than are ever under way at once at the rates used here. */
const CONNECTIONS = 64;

/** A load whose calls begin at a fixed rate, whether or not earlier ones have been answered. */
export interface OpenLoad {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Latency is counted from the moment at which a call is sent. Fails when a call does. */
export async function openLoop({ url, perSecond, seconds }: OpenLoad): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const begin = performance.now();
  const total = perSecond * seconds;
  for (let index = 0; index < total; index += 1) {
    const wait = begin + (index * 1000) / perSecond - performance.now();
    // Later ones catch up: the timer of this process is no finer than a millisecond.
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
