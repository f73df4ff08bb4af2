import { describe, expect, onTestFinished, test } from 'vitest';
import { LARGE } from '../../src/base/own-turn.ts';
import { failed, success } from './support/scripted-runtime.ts';
import { countTurns } from '../support/count-turns.ts';
import { startServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

const BODY = JSON.stringify({ text: 'x'.repeat(4 * LARGE) });

const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from(BODY) };

function isBody(value: unknown): boolean {
  return typeof value === 'string' && value.length === BODY.length;
}

/** The function `name` of `owner` notes the turn of each call with a body, as its argument or result. */
function notedTurns(owner: object, name: string, turn: () => number): Set<number> {
  const turns = new Set<number>();
  const original = Reflect.get(owner, name) as (this: unknown, ...args: unknown[]) => unknown;
  const noting = function noting(this: unknown, ...args: unknown[]): unknown {
    const result = original.apply(this, args);
    if (isBody(args[0]) || isBody(result)) turns.add(turn());
    return result;
  };
  Reflect.set(owner, name, noting);
  onTestFinished(() => {
    Reflect.set(owner, name, original);
  });
  return turns;
}

const FAULT = { code: 'invalid_argument', message: 'text has to be a number', details: [] } as const;

describe.each(TRANSPORTS)('transport %s', (name) => {
  test.each([
    ['that are answered', () => success('fine'), 200],
    ['whose calls fail', () => failed(FAULT), 400],
  ])(
    'each step over a large body has a turn for itself, also for bodies that arrive together: %s',
    async (...given) => {
      const [, outcome, status] = given;
      const server = await startServer(name, { maxBodyBytes: 8 * LARGE, callerShare: 1 });
      onTestFinished(() => server.close());
      server.runtime.onCall = outcome;
      const turn = countTurns();
      const decoded = notedTurns(Buffer.prototype, 'toString', turn);
      const parsed = notedTurns(JSON, 'parse', turn);
      const searched = notedTurns(RegExp.prototype, 'test', turn);
      const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${server.url}/call/Greet`, POST)));
      for (const answer of answers) expect(answer.status).toBe(status);
      await expect.poll(() => searched.size).toBeGreaterThanOrEqual(8);
      expect([decoded.size, parsed.size]).toEqual([8, 8]);
      expect(new Set([...decoded, ...parsed, ...searched]).size).toBe(8 + 8 + searched.size);
    },
  );
});
