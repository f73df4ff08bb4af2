import { expect, onTestFinished, test, vi } from 'vitest';
import { LARGE } from '../../src/base/own-turn.ts';
import { success } from './support/scripted-runtime.ts';
import { startServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

const BODY = JSON.stringify({ text: 'x'.repeat(4 * LARGE) });

/** Numbers the turns of the event loop until the test ends. */
function countTurns(): () => number {
  let turn = 0;
  const timer = { stopped: false };
  const next = (): void => {
    turn += 1;
    if (!timer.stopped) setImmediate(next);
  };
  next();
  onTestFinished(() => {
    timer.stopped = true;
  });
  return () => turn;
}

test.each(TRANSPORTS)(
  'large bodies that arrive together are checked and parsed in turns of their own (%s)',
  async (name) => {
    const server = await startServer(name, { maxBodyBytes: 8 * LARGE, callerShare: 1 });
    onTestFinished(() => server.close());
    server.runtime.onCall = () => success('fine');
    const turn = countTurns();
    const turns: number[] = [];
    const parse = JSON.parse.bind(JSON);
    const parsed = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...more) => {
      if (text.length === BODY.length) turns.push(turn());
      return parse(text, ...more) as unknown;
    });
    onTestFinished(() => parsed.mockRestore());
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY };
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${server.url}/call/Greet`, post)));
    for (const answer of answers) expect(await answer.json()).toBe('fine');
    expect(turns).toHaveLength(8);
    expect(new Set(turns).size).toBe(8);
  },
);
