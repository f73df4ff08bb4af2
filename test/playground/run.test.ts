import { expect, test } from 'vitest';
import { growth, type Run } from '../../src/playground/data/run.ts';

const RUN = { partials: 1, resets: 0, reply: 'a' } as Run;

test.each([
  [{ text: 'b' }, { state: 'streaming', reply: 'ab' }],
  [{ partial_result: 2 }, { state: 'streaming', value: 2, partials: 2 }],
  [{ reset: { reason: 'cut' } }, { state: 'waiting', reply: '', resets: 1 }],
  // The page does not ask for it.
  [{ reasoning: 'Hm.' }, {}],
])('the message %j changes a run', (event, change) => {
  expect(growth(event, RUN)).toEqual(change);
});
