import { afterAll, expect, test } from 'vitest';
import type { ReplyOutcome } from '../../../src/runtime/call/runtime.ts';
import type { ParseOutcome } from '../../../src/runtime/reply/reply-parser.ts';
import { parserOf, partialsOf } from './parser-of.ts';
import { parsingWays } from './parsing-ways.ts';
import { SAMPLE_DEFINITIONS, section, streamSamples, valueSamples } from './read-samples.ts';

/** The least numbers of samples, so that an empty folder cannot pass. */
const FEWEST_VALUES = 500;
const FEWEST_STREAMS = 100;

const values = valueSamples();
const streams = streamSamples();
const ways = parsingWays(
  values.map((sample) => section(sample, 'type')),
  SAMPLE_DEFINITIONS,
);

afterAll(() => ways.close());

function shown(outcome: ParseOutcome | ReplyOutcome): string {
  if (outcome.ok) return outcome.value.json;
  const [first] = 'details' in outcome.failure ? outcome.failure.details : [];
  return `refused${first?.path === '' ? '' : ` at ${first?.path}`}: ${first?.message}`;
}

function flagsOf(outcome: ReplyOutcome): string {
  return outcome.ok ? outcome.value.flags.map((flag) => `${flag.flag} ${flag.path}`.trim()).join('\n') : '';
}

/** Such as `dropped=2, defaulted=1`; empty without losses. */
function lossesOf(outcome: ReplyOutcome): string {
  const counts = outcome.ok ? Object.entries(outcome.value.losses) : [];
  return counts.flatMap(([kind, count]) => (count > 0 ? [`${kind}=${count}`] : [])).join(', ');
}

test('there are enough samples', () => {
  expect(values.length).toBeGreaterThanOrEqual(FEWEST_VALUES);
  expect(streams.length).toBeGreaterThanOrEqual(FEWEST_STREAMS);
});

test.each(values.flatMap((sample) => (['inline', 'pooled'] as const).map((way) => ({ way, sample }))))(
  '$sample.name, $way',
  async ({ way, sample }) => {
    const outcome = await ways[way](section(sample, 'type'), section(sample, 'reply'));
    expect(shown(outcome)).toBe(section(sample, 'value').trimEnd());
    expect(flagsOf(outcome)).toBe(section(sample, 'flags').trim());
    const losses = sample.sections.get('losses');
    if (losses !== undefined) expect(lossesOf(outcome)).toBe(losses.trim());
    if (outcome.ok) expect(JSON.stringify(outcome.value.value)).toBe(JSON.stringify(JSON.parse(outcome.value.json)));
  },
);

test.each(streams)('$name, in deltas', (sample) => {
  const [heading, reply] = [...sample.sections].find(([name]) => name.startsWith('reply')) ?? ['', ''];
  const size = Number(heading.replace('reply in deltas of ', ''));
  const deltas = reply.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
  const parser = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS);
  expect(partialsOf(parser, deltas).join('\n')).toBe(section(sample, 'partials').trim());
  expect(shown(parser.parse(reply))).toBe(section(sample, 'value').trimEnd());
});
