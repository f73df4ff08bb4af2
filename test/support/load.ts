import { Agent, request as httpRequest } from 'node:http';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadCounts {
  served: number;
  /** Connections that no process accepted. */
  refused: number;
  /** Everything else that is not a 200: resets, other statuses. */
  failed: number;
  readonly errors: string[];
}

export interface Load {
  readonly counts: LoadCounts;
  /** Lets each loop finish its call, then resolves. */
  stop(): Promise<LoadCounts>;
}

/** `concurrency` closed loops of POST requests, each on keep-alive connections, until stopped. */
export function startLoad(
  url: string,
  body: unknown,
  concurrency: number,
  headers: Readonly<Record<string, string>> = {},
): Load {
  const counts: LoadCounts = { served: 0, refused: 0, failed: 0, errors: [] };
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const content = { text: JSON.stringify(body), headers };
  let running = true;
  const loop = async (): Promise<void> => {
    while (running) await oneRequest(agent, url, content, counts);
  };
  const loops = Array.from({ length: concurrency }, loop);
  return {
    counts,
    stop: async () => {
      running = false;
      await Promise.all(loops);
      agent.destroy();
      return counts;
    },
  };
}

interface Content {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

function oneRequest(agent: Agent, url: string, { text, headers: own }: Content, counts: LoadCounts): Promise<void> {
  return new Promise((resolve) => {
    const headers = { ...own, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      response.on('error', () => {});
      response.resume();
      response.on('close', () => {
        if (response.statusCode === 200 && response.complete) counts.served += 1;
        else note(counts, `status ${response.statusCode}${response.complete ? '' : ', cut'}`);
        resolve();
      });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        counts.refused += 1;
        setTimeout(resolve, 5);
        return;
      }
      note(counts, error.code ?? error.message);
      resolve();
    });
    request.end(text);
  });
}

function note(counts: LoadCounts, error: string): void {
  counts.failed += 1;
  if (counts.errors.length < 50) counts.errors.push(error);
}

/** Process ids of the direct children: the workers of a primary (Linux). */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** The time between two checks of a condition, on the real clock. */
const CHECK_MS = 25;

/** Resolves when `condition` holds; rejects after `timeoutMs` with the name of the condition. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  for (let left = timeoutMs; !(await condition()); left -= CHECK_MS) {
    if (left <= 0) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    await sleep(CHECK_MS);
  }
}
