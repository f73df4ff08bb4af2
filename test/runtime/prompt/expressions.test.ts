import { expect, test } from 'vitest';
import { CLIENT, readSample, rendererIfValid } from './sample-program.ts';

// One expression per line with its output (a JSON string), or ERROR if it does not compile or render.
const LINES = readSample('expressions.txt').trim().split('\n');
const DEFINITIONS = readSample('expressions.baml');

const ARGS = {
  s: 'abc',
  l: ['b', 'a', 'a'],
  nums: [3, 1, 2],
  i: -5,
  f: 2.567,
  b: true,
  n: null,
  u: 3,
  lit: 'x',
  m: { k: 1, j: 2 },
  c: { s: 'S "q"', i: 1, al: 'AL' },
  cl: [
    { s: 'one', i: 1, al: 'x' },
    { s: 'two', i: 2, al: 'y' },
  ],
  cdeep: { s: 'S', i: 1, al: 'AL', sub: { ex: 1, col: 'GREEN' } },
  e: 'GREEN',
  ge: 'RED',
  el: ['RED', 'GREEN'],
};

test('there are enough samples', () => {
  expect(LINES.length).toBeGreaterThan(170);
});

test.each(LINES)('%s', (line) => {
  const at = line.lastIndexOf(' => ');
  const source = DEFINITIONS.replace('EXPRESSION', () => line.slice(0, at));
  const expected = line.slice(at + 4);
  expect(outcomeOf(source)).toBe(expected === 'ERROR' ? expected : `[${JSON.parse(expected)}]`);
});

function outcomeOf(source: string): string {
  const result = rendererIfValid(source)?.render('Show', ARGS, CLIENT);
  if (result?.ok !== true) return 'ERROR';
  const part = result.value[0]?.parts[0];
  return part?.kind === 'text' ? part.text : 'no text';
}
