import { expect, test } from 'vitest';
import { fuzz } from '../../bench/fuzz/fuzz.ts';
import { minimise } from '../../bench/fuzz/minimise.ts';
import { readOptions } from '../../bench/fuzz/options.ts';
import { broken, outcomeOf, type Target } from '../../bench/fuzz/target.ts';
import { definitionTarget } from '../../bench/fuzz/targets/definitions.ts';
import { faultOf } from '../../bench/fuzz/targets/framing.ts';
import { optionsTarget } from '../../bench/fuzz/targets/options.ts';
import { replyTarget } from '../../bench/fuzz/targets/replies.ts';
import { templateTarget } from '../../bench/fuzz/targets/templates.ts';
import { Random } from '../../bench/recover/random.ts';
import { parserOf } from '../runtime/reply/parser-of.ts';
import { REGRESSIONS } from './fuzz-regressions.ts';
import { readWord } from './read-word.ts';

const SEED = '7';

/** Goes on for this many inputs. */
function inputs(count: number): (tried: number) => boolean {
  return (tried) => tried < count;
}

function wordTarget(covers?: readonly string[]): Target<string> {
  return {
    name: 'word',
    dictionary: [...'abcdefghijklmnopqrstuvwxyz'],
    seeds: [''],
    generate: (random) => random.pick([...'abcdefghijklmnopqrstuvwxyz']),
    check: (text) => (readWord(text) ? broken('reads the word', text) : { trait: '' }),
    ...(covers === undefined ? {} : { covers }),
  };
}

test('coverage guides the inputs to a fault that random inputs do not reach', async () => {
  const guided = await fuzz(wordTarget(['/test/bench/read-word']), { seed: SEED, goesOn: inputs(2_000) });
  expect(guided.failures).toEqual([
    { rule: 'reads the word', input: 'fuzz', detail: 'fuzz', times: expect.any(Number) },
  ]);
  const unguided = await fuzz(wordTarget(), { seed: SEED, goesOn: inputs(20_000) });
  expect(unguided.failures).toEqual([]);
});

test('an input that takes too many steps is found', async () => {
  const loops = wordTarget(['/test/bench/read-word']);
  const found = await fuzz({ ...loops, maxSteps: () => 0, minimiseChecks: 10 }, { seed: SEED, goesOn: inputs(1) });
  expect(found.failures.map(({ rule }) => rule)).toContain('takes too many steps');
});

// The target repeats short replies, so that one backtick becomes a fence.
test('an exception is a fault, and the smallest input shows it', async () => {
  const target = replyTarget(({ returns, definitions }) => {
    const parser = parserOf(returns, definitions);
    const parse = (text: string) => {
      if (text.includes('```')) throw new TypeError('no fences');
      return parser.parse(text);
    };
    return { ...parser, parse };
  });
  const { covers: _covers, ...unguided } = target;
  const { failures } = await fuzz({ ...unguided, seeds: [] }, { seed: SEED, goesOn: inputs(1) });
  expect(failures).toMatchObject([{ rule: expect.stringMatching('throws TypeError'), input: { type: 0, reply: '`' } }]);
});

test('a stream that ends differently from the whole reply is a fault', async () => {
  const target = replyTarget(({ returns, definitions }) => {
    const parser = parserOf(returns, definitions);
    return {
      ...parser,
      openStream: () => ({
        ...parser.openStream(),
        takePartial: () => undefined,
        push: () => {},
        finish: () => parser.parse(''),
      }),
    };
  });
  const input = { type: 0, reply: '[{"kind0": "a"}]', deltas: [3] };
  expect((await outcomeOf(target, input)).fault?.rule).toBe('a stream ends differently from the whole reply');
});

function hasAb(input: { readonly list: readonly string[]; readonly n: number }): Promise<boolean> {
  return Promise.resolve(input.list.join('').includes('ab') && input.n > 3);
}

test('a smaller input that fails in the same way replaces a failing one', async () => {
  expect(await minimise({ list: ['xxaxx', 'yab', 'z'], n: 100 }, hasAb)).toEqual({ list: ['ab'], n: 6 });
});

const ANSWERED = { answers: [{ status: 200, routed: true }], ran: ['100001-r0'] };
const REFUSED = { answers: [{ status: 400, routed: false }], ran: [] };

test.each([
  [
    'a call that one transport runs although nginx does not see it',
    { uws: ANSWERED, node: REFUSED, nginx: REFUSED },
    'uws runs a call that nginx does not see',
  ],
  ['a call that only one transport runs', { uws: ANSWERED, node: REFUSED, nginx: ANSWERED }, 'the transports differ'],
  [
    'a call that only nginx lets through',
    { uws: REFUSED, node: REFUSED, nginx: ANSWERED },
    'svc is stricter than nginx',
  ],
  [
    'a request that nginx does not see',
    { uws: REFUSED, node: { ...ANSWERED, ran: [] }, nginx: REFUSED },
    'node answers more requests than nginx sees',
  ],
  [
    'a call that one transport runs more often than nginx',
    { uws: ANSWERED, node: { ...ANSWERED, ran: [...ANSWERED.ran, ...ANSWERED.ran] }, nginx: ANSWERED },
    'node runs a call that nginx does not see',
  ],
  ['a call that all run', { uws: ANSWERED, node: ANSWERED, nginx: ANSWERED }, undefined],
])('the framing target judges %s', (_, verdicts, rule) => {
  expect(faultOf(verdicts, { text: 'POST / HTTP/1.1\r\nHost: x\r\n\r\n', first: 100 }).fault?.rule).toBe(rule);
});

test('the framing target allows only the differences that it lists', () => {
  const verdicts = { uws: REFUSED, node: REFUSED, nginx: ANSWERED };
  expect(faultOf(verdicts, { text: 'POST / HTTP/1.1\nHost: x\r\n\r\n', first: 100 }).listed).toContain(
    'a line that ends without CR',
  );
});

const IN_PROCESS = [replyTarget(), definitionTarget(), templateTarget(), optionsTarget()];

test.each(IN_PROCESS.map((target) => [target.name, target] as const))(
  'inputs that once broke %s hold',
  async (name, target) => {
    for (const input of REGRESSIONS[name] ?? [])
      expect(await outcomeOf(target, input), JSON.stringify(input)).not.toHaveProperty('fault');
  },
);

test.each(IN_PROCESS.map((target) => [target.name, target] as const))(
  '%s holds for a few random inputs, the same for a seed',
  async (_, target) => {
    const [random, again] = [new Random(SEED), new Random(SEED)];
    for (let turn = 0; turn < 20; turn += 1) {
      const input = target.generate(random);
      expect(target.generate(again)).toEqual(input);
      expect(await outcomeOf(target, input), JSON.stringify(input)).not.toHaveProperty('fault');
    }
  },
);

test('the command names the targets that it knows', () => {
  expect(readOptions(['--target', 'reply', '--minutes', '10', '--seed', 'a'])).toEqual({
    targets: ['reply'],
    minutes: 10,
    seed: 'a',
  });
  expect(() => readOptions(['--target', 'x'])).toThrow('--target "x" is not one of framing, body');
  expect(() => readOptions(['--minutes', '0'])).toThrow('--minutes "0" is not a number above 0');
});
