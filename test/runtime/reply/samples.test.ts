import { afterAll, expect, test } from 'vitest';
import type { ReplyOutcome } from '../../../src/runtime/call/runtime.ts';
import type { ParseOutcome } from '../../../src/runtime/reply/reply-parser.ts';
import type { ParseFlag } from '../../../src/schema/explanation.ts';
import { parserOf, partialsOf } from './parser-of.ts';
import { parsingWays } from './parsing-ways.ts';
import { SAMPLE_DEFINITIONS, section, streamSamples, valueSamples } from './read-samples.ts';

/** The least numbers of samples, so that an empty folder cannot pass. */
const FEWEST_VALUES = 400;
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

function flagsOf(outcome: ParseOutcome | ReplyOutcome): string {
  return outcome.ok ? outcome.value.flags.map((flag) => `${flag.flag} ${flag.path}`.trim()).join('\n') : '';
}

/** Such as `dropped=2, defaulted=1`; empty without losses. */
function lossesOf(outcome: ParseOutcome): string {
  const counts = outcome.ok ? Object.entries(outcome.value.losses) : [];
  return counts.flatMap(([kind, count]) => (count > 0 ? [`${kind}=${count}`] : [])).join(', ');
}

test('there are enough samples', () => {
  expect(values.length).toBeGreaterThanOrEqual(FEWEST_VALUES);
  expect(streams.length).toBeGreaterThanOrEqual(FEWEST_STREAMS);
});

test.each(values)('$name', (sample) => {
  const outcome = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS).parse(section(sample, 'reply'));
  expect(shown(outcome)).toBe(section(sample, 'value').trimEnd());
  const losses = sample.sections.get('losses');
  if (losses !== undefined) expect(lossesOf(outcome)).toBe(losses.trim());
  if (outcome.ok) expect(JSON.stringify(outcome.value.value)).toBe(JSON.stringify(JSON.parse(outcome.value.json)));
});

const topics = [...new Set(values.map(({ topic }) => topic))].map((topic) => ({
  topic,
  samples: values.filter((sample) => sample.topic === topic),
}));

test.each(topics)('the flags of $topic', ({ samples }) => {
  const flags = samples.map((sample) => {
    const outcome = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS).parse(section(sample, 'reply'));
    return `${sample.name}\n${flagsOf(outcome)}`;
  });
  expect(flags).toEqual(samples.map((sample) => `${sample.name}\n${section(sample, 'flags').trim()}`));
});

/*
 * Nothing vanishes in silence: a word of the text that a value was taken from is in the value, names a part of its type,
 * or is reported by a flag.
 */

/** The flags that say that the value is not all of its text, or that it is written in another way. */
const REPORTS = /^(?!prose$|markdown$|single-to-list$|repaired$|defaulted$|implied-key$|other-values$)[a-z-]+$/u;
const REPAIRS = /comment|text between|without a key|without a value|string without quotes|missing end|unknown escape/u;

function isReported({ flag, detail = '' }: ParseFlag): boolean {
  return REPORTS.test(flag) || (flag === 'repaired' && REPAIRS.test(detail));
}

/** The words of a text, without accents; numbers by their values. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .replaceAll(/\\u([\da-f]{4})/giu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\[nrtbf"\\/]/gu, ' ')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '');
  const words = plain.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}_-]+/giu) ?? [];
  return words.map((word) =>
    Number.isFinite(Number(word)) ? String(Math.abs(Number(word))) : word.toLowerCase().replaceAll(/[_-]/gu, ''),
  );
}

const NAMED = new Set([...wordsOf(SAMPLE_DEFINITIONS), 'null', 'true', 'false', 'none', 'json', 'undefined', 'nan']);

test.each(topics)('every word of $topic is in the value, or is reported', ({ samples }) => {
  const lost = samples.flatMap((sample) => {
    const parser = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS);
    const reply = section(sample, 'reply');
    const outcome = parser.parse(reply);
    const taken = parser.explain(reply).candidates.find(({ verdict }) => verdict === 'taken');
    if (!outcome.ok || taken === undefined || outcome.value.flags.some(isReported)) return [];
    const kept = new Set(wordsOf(JSON.stringify(outcome.value.value)));
    const all = [...kept].join('');
    const missing = wordsOf(reply.slice(taken.from, taken.to)).filter(
      (word) => !kept.has(word) && !NAMED.has(word) && !all.includes(word),
    );
    return missing.length === 0 ? [] : [`${sample.name}: ${missing.join(' ')}`];
  });
  expect(lost).toEqual([]);
});

test.each(topics)('a pool of threads reads $topic as a worker does', async ({ samples }) => {
  for (const sample of samples) {
    const outcome = await ways.pooled(section(sample, 'type'), section(sample, 'reply'));
    expect(`${sample.name}: ${shown(outcome)}\n${flagsOf(outcome)}`).toBe(
      `${sample.name}: ${section(sample, 'value').trimEnd()}\n${section(sample, 'flags').trim()}`,
    );
  }
});

test.each(streams)('$name, in deltas', (sample) => {
  const [heading, reply] = [...sample.sections].find(([name]) => name.startsWith('reply')) ?? ['', ''];
  const size = Number(heading.replace('reply in deltas of ', ''));
  const deltas = reply.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
  const parser = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS);
  expect(partialsOf(parser, deltas).join('\n')).toBe(section(sample, 'partials').trim());
  expect(shown(parser.parse(reply))).toBe(section(sample, 'value').trimEnd());
});
