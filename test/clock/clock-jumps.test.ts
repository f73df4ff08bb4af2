import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { childrenOf } from '../support/load.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';

const FILES = {
  'main.svc': `
client<llm> Quick {
  provider offline
  options { latency_ms 5 }
}
client<llm> Paced {
  provider offline
  options {
    reply "one two three four five six seven eight nine ten"
    chunk_size 4
    chunk_delay_ms 100
  }
}
client<llm> Late {
  provider offline
  options { latency_ms 60000 }
}
function Hi(name: string) -> string {
  client Quick
  prompt #"Say hi to {{ name }}"#
}
function Count(to: int) -> string {
  client Paced
  prompt #"Count to {{ to }}"#
}
function Wait(name: string) -> string {
  client Late
  prompt #"Wait for {{ name }}"#
}
`,
};

/** Sets the wall clock of every process forward and back by a day, ten times a second. */
const JUMPS = `
const RealDate = Date;
const jump = () => (Math.floor(performance.now() / 100) % 2 === 0 ? 86_400_000 : -86_400_000);
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + jump());
    else super(...parts);
  }
  static now() {
    return RealDate.now() + jump();
  }
};
`;

// Most of the time is the wait for a time limit.
test.concurrent.for(TRANSPORTS)(
  'on %s, a clock that jumps by days ends no call, stream or worker, and changes no deadline',
  async (transport, { onTestFinished }) => {
    const script = join(temporaryFolder({ 'jumps.cjs': JUMPS }), 'jumps.cjs');
    const server = await startServer({
      files: FILES,
      flags: ['--workers', '1', '--transport', transport, '--request-timeout', '4s', '--max-worker-age', '1h'],
      env: { NODE_OPTIONS: `--require ${script}` },
    });
    onTestFinished(() => void server.stop('SIGKILL'));
    const { url, child } = server;
    const workers = childrenOf(child.pid ?? 0);
    const stream = readStream(`${url}/stream/Count`, { to: 10 });
    const begin = performance.now();
    const late = await call(url, 'Wait');
    const took = performance.now() - begin;
    expect(late.status).toBe(504);
    expect(took).toBeGreaterThanOrEqual(2_000);
    expect((await stream).messages.at(-1)?.data).toHaveProperty('final_result');
    for (let calls = 0; calls < 20; calls += 1) expect((await call(url, 'Hi')).status).toBe(200);
    expect(childrenOf(child.pid ?? 0)).toEqual(expect.arrayContaining([...workers]));
    expect(await server.stop()).toBe(0);
  },
);

function call(url: string, name: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/call/${name}`, { method: 'POST', headers, body: '{"name": "Ada"}' });
}
