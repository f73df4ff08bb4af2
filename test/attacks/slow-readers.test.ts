import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../support/running-server.ts';
import { reply } from '../support/fake-provider.ts';
import type { RawConnection } from '../server/support/raw-connection.ts';
import { TELL_FUNCTION } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const READERS = 200;

const ANSWER = 1_000_000;

/** A transport measures and encodes the text of an answer, which takes two or three passes. */
const PASSES = 3;

const TURNS = temporaryFolder({});

const SETUP = {
  files: { 'main.svc': TELL_FUNCTION },
  env: { NODE_OPTIONS: `--import=${new URL('support/turn-meter.mjs', import.meta.url).href}` },
};

/** The characters of answers over which the workers went: the most in one turn of an event loop, and the sum of all turns. */
function turns(attack: string): { readonly most: number; readonly sum: number } {
  const files = readdirSync(TURNS).filter((name) => name.startsWith(attack));
  const counts = files.map((name) => readFileSync(join(TURNS, name), 'utf8').split(' ').map(Number));
  const most = Math.max(0, ...counts.map(([each = 0]) => each));
  return { most, sum: counts.reduce((total, [, each = 0]) => total + each, 0) };
}

for (const kind of ['call', 'stream'] as const) {
  onBothTransports(
    `200 slow readers of large answers (${kind}): no turn of an event loop writes more than one of them`,
    { ...SETUP, env: { ...SETUP.env, ATTACK_TURNS: join(TURNS, kind) } },
    async (server) => {
      const before = turns(kind).sum;
      server.model.answer(reply('x'.repeat(ANSWER), { chunkSize: 100_000, delayMs: 100 }));
      const body = '{"topic":"a"}';
      const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
      const readers: RawConnection[] = [];
      for (let opened = 0; opened < READERS; opened += 1) {
        const reader = server.connect();
        reader.socket.pause();
        reader.write(`POST /${kind}/Tell HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`);
        readers.push(reader);
      }
      await expect.poll(() => server.model.requests.length).toBe(READERS);
      // All of them accept data at the same time.
      for (const { socket } of readers) socket.resume();
      await expect.poll(() => readers.every(({ closed }) => closed)).toBe(true);
      const { most, sum } = turns(kind);
      expect(sum - before).toBeGreaterThan((READERS / 2) * ANSWER);
      expect(most).toBeLessThan(PASSES * ANSWER + 300_000);
    },
  );
}
