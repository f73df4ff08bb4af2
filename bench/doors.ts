import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, listAt, objectAt, parseJson, stringAt } from '../src/base/json.ts';
import { answer } from './answers.ts';
import type { Verdict } from './bars.ts';
import { BODY, cpuMicrosOfLoad, median, post } from './load.ts';
import { number, table } from './report.ts';
import { setStage, type Stage } from './sides.ts';

/** The small call through one interface of a server. */
interface Interface {
  readonly title: string;
  readonly path: string;
  readonly body: string;
  /** The value in the body of an answer. */
  readonly valueIn: (body: unknown) => unknown;
}

const { text } = JSON.parse(BODY) as { readonly text: string };

const INTERFACES: readonly Interface[] = [
  { title: '/call', path: '/call/Small', body: BODY, valueIn: (body) => body },
  {
    title: '/call with usage, client and warnings',
    path: '/call/Small',
    body: JSON.stringify({ text, svc_options: { include: ['usage', 'client', 'warnings'] } }),
    valueIn: (body) => objectAt(body, 'result'),
  },
  {
    title: '/v1/chat/completions',
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'Small', messages: [{ role: 'user', content: text }] }),
    valueIn: (body) => parseJson(stringAt(objectAt(listAt(body, 'choices')?.[0], 'message'), 'content') ?? ''),
  },
  {
    title: '/v1/responses',
    path: '/v1/responses',
    body: JSON.stringify({ model: 'Small', input: text }),
    valueIn: (body) => parseJson(stringAt(listAt(listAt(body, 'output')?.[0], 'content')?.[0], 'text') ?? ''),
  },
  {
    title: '/mcp, tools/call',
    path: '/mcp',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Small', arguments: { text } },
    }),
    valueIn: (body) => objectAt(objectAt(body, 'result'), 'structuredContent'),
  },
];

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const CONNECTIONS = 32;
const REQUESTS = 1600;
const WARM_UP_ROUNDS = 25;
const ROUNDS = 12;

/** CPU microseconds for each call through an interface, one for each round. */
export type DoorCosts = ReadonlyArray<{ readonly title: string; readonly micros: readonly number[] }>;

/** Each interface has a server of its own, and all take turns. `pairs`: the measurements are 12 rounds each. */
export async function measureDoors(pairs: number): Promise<DoorCosts> {
  const stages: Stage[] = [];
  try {
    const costs = [];
    for (const each of INTERFACES) {
      const stage = await setStage({ sides: ['svc'], env: { SVC_OPENAI_API: 'true', SVC_MCP: 'true' } });
      stages.push(stage);
      const [side] = stage.sides;
      if (side === undefined) throw new Error('the server has not started');
      await check(side.url, each);
      costs.push({ ...each, side, micros: [] as number[] });
    }
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS * pairs; round += 1) {
      for (const { path, body, side, micros } of round % 2 === 0 ? costs : costs.toReversed()) {
        const load = { url: side.url + path, body, headers: HEADERS, connections: CONNECTIONS, requests: REQUESTS };
        const spent = await cpuMicrosOfLoad(side.pid, load);
        if (round >= 0) micros.push(spent);
      }
    }
    return costs.map(({ title, micros }) => ({ title, micros }));
  } finally {
    for (const stage of stages) await stage.end();
  }
}

async function check(url: string, { title, path, body, valueIn }: Interface): Promise<void> {
  const answered = await post(url + path, { body, headers: HEADERS });
  const parsed = parseJson(answered);
  if (isJsonObject(parsed) && isDeepStrictEqual(valueIn(parsed), answer('Small').value)) return;
  throw new Error(`${title}: wrong answer: ${answered.slice(0, 300)}`);
}

export function doorTable(costs: DoorCosts): string {
  const rows = costs.map(({ title, micros }) => [title, number(median(micros)), number(besideCall(costs, title))]);
  return table([['/call, 150-byte answer, c=32, through', 'CPU µs/request', 'beside /call'], ...rows]);
}

/** The median of the ratios of each round. */
function besideCall(costs: DoorCosts, title: string): number {
  const microsOf = (wanted: string) => costs.find((each) => each.title === wanted)?.micros ?? [];
  const calls = microsOf('/call');
  return median(microsOf(title).map((micros, round) => micros / (calls[round] ?? Number.NaN)));
}

const LIMIT = 1.15;

export function judgeDoors(costs: DoorCosts | undefined): Verdict {
  const measured = costs === undefined ? undefined : besideCall(costs, '/v1/chat/completions');
  const holds = measured === undefined ? undefined : measured <= LIMIT;
  return { bar: 'a chat completion: at most 1.15 times /call', measured, limit: LIMIT, holds };
}
