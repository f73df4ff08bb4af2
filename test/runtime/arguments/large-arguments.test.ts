import { afterAll, expect, test } from 'vitest';
import { countSteps } from '../../support/count-steps.ts';
import { testRuntime } from '../../support/test-runtime.ts';

const COLORS = Array.from({ length: 3000 }, (_, at) => `  COLOR_NUMBER_${at}`).join('\n');

const runtime = testRuntime(`
enum Color {
${COLORS}
}
class Item {
  name string
  color Color
}
type Tree = int | float | string | bool | null | Tree[] | map<string, Tree>
function Text(text: string) -> string {
  client "offline/x"
  prompt #"hi"#
}
function Items(a: Item[]) -> string {
  client "offline/x"
  prompt #"{{ a }}"#
}
function Colors(a: Color[]) -> string {
  client "offline/x"
  prompt #"hi"#
}
function Numbers(a: map<string, int>) -> string {
  client "offline/x"
  prompt #"{{ a }}"#
}
function Picture(a: image) -> string {
  client "offline/x"
  prompt #"hi"#
}
function Any(a: Tree) -> string {
  client "offline/x"
  prompt #"{{ a }}"#
}
`);

afterAll(() => runtime.close());

function members(count: number, value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, value]));
}

function list(count: number, item: unknown): readonly unknown[] {
  return Array.from({ length: count }, () => item);
}

/** Bodies of a size that each function refuses or accepts. */
const SHAPES: readonly (readonly [string, string, (size: number) => object])[] = [
  ['unknown parameters', 'Text', (size) => ({ text: '', ...members(size, 1) })],
  ['a wrong list', 'Text', (size) => ({ text: list(size, 1) })],
  ['wrong items', 'Items', (size) => ({ a: list(size, {}) })],
  ['items', 'Items', (size) => ({ a: list(size, { name: 'a', color: 'COLOR_NUMBER_1' }) })],
  ['misspelled enum values', 'Colors', (size) => ({ a: list(size, 'COLOR_NUMBER_X1') })],
  ['a map with wrong values', 'Numbers', (size) => ({ a: members(size, 'x') })],
  ['a map', 'Numbers', (size) => ({ a: members(size, 1) })],
  ['a long key', 'Numbers', (size) => ({ a: { ['k'.repeat(100 * size)]: 'x' } })],
  ['unknown keys of an image', 'Picture', (size) => ({ a: members(size, 1) })],
  ['a long image', 'Picture', (size) => ({ a: { base64: 'AAAA'.repeat(25 * size) } })],
  ['any JSON', 'Any', (size) => ({ a: list(size, { a: [1, null, 'x'] }) })],
];

function refusal(name: string, body: object): { readonly details: number; readonly bytes: number } {
  const prepared = runtime.prepare(name, body);
  if (prepared.ok) return { details: 0, bytes: 0 };
  const details = 'details' in prepared.failure ? prepared.failure.details : [];
  return { details: details.length, bytes: JSON.stringify(prepared.failure).length };
}

test.each(SHAPES)('%s cost steps in proportion to their number, and the refusal is short', (_what, name, body) => {
  const [once, twice] = [body(2_500), body(5_000)];
  refusal(name, body(10));
  const steps = countSteps(() => refusal(name, once));
  let refused = { details: 0, bytes: 0 };
  const more = countSteps(() => (refused = refusal(name, twice)));
  expect(more).toBeLessThan(Math.max(2.2 * steps, steps + 1000));
  // The suggestions for misspelled values compare millions of pairs of characters, however many values there are.
  expect(more).toBeLessThan(80_000_000);
  const { details, bytes } = refused;
  expect(details).toBeLessThanOrEqual(101);
  expect(bytes).toBeLessThan(100_000);
});

test.each<[string, string, (size: number) => object]>([
  ['items', 'Items', (size) => ({ a: list(size, { name: 'a', color: 'COLOR_NUMBER_1' }) })],
  ['a map', 'Numbers', (size) => ({ a: members(size, 1) })],
  ['numbers of a union', 'Any', (size) => ({ a: list(size, 1) })],
  ['objects of a union', 'Any', (size) => ({ a: list(size, { a: [] }) })],
])('a prompt prints %s in steps in proportion to their number', (_what, name, body) => {
  const render = (size: number): (() => unknown) => {
    const prepared = runtime.prepare(name, body(size));
    if (!prepared.ok) throw new Error('should be accepted');
    return () => runtime.render(prepared.value);
  };
  render(10)();
  const [few, many] = [render(1_000), render(2_000)].map(countSteps);
  expect(many).toBeLessThan(2.2 * (few ?? 0));
  expect(many).toBeLessThan(2_000 * 300);
});

test('misspelled values get a suggestion, of thousands of values only the first ones', () => {
  const prepared = runtime.prepare('Colors', { a: list(50, 'COLOR_NUMBR_7') });
  const details = !prepared.ok && 'details' in prepared.failure ? prepared.failure.details : [];
  const suggested = details.map(({ message }) => message.includes('Did you mean "COLOR_NUMBER_7"'));
  expect(suggested.slice(0, 4)).toEqual([true, true, true, true]);
  expect(suggested.slice(5)).not.toContain(true);
});

test('the refusal of a reply to parse is short', () => {
  const prepared = runtime.prepareReply('Text', members(50_000, 1));
  const failure = prepared.ok ? undefined : prepared.failure;
  expect(failure).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('(and 98 more)') as unknown,
  });
  expect(JSON.stringify(failure).length).toBeLessThan(20_000);
});
