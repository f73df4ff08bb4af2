import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { ParseOutcome, ReplyParser } from '../../../src/runtime/parsing/reply-parser.ts';
import { parserOf, partialsOf } from './parser-of.ts';

/**
 * Files of samples: `=== name`, then sections that begin with `--- section`. A reply is followed by the value that comes
 * out, or by the reason why it is refused, and by the flags with their paths; in `streams/` by every partial as well.
 * The values and partials of `rules-*` and `streams/rules` were written down from the rules before any parser had seen them.
 */
const FOLDER = fileURLToPath(new URL('samples/', import.meta.url));
const DEFINITIONS = readFileSync(`${FOLDER}definitions.svc`, 'utf8');

/** An empty folder must not pass. */
const FEWEST_VALUES = 470;
const FEWEST_STREAMS = 95;

interface Sample {
  readonly name: string;
  readonly sections: ReadonlyMap<string, string>;
}

function samplesIn(folder: string): Sample[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
  return files
    .toSorted()
    .flatMap((file) => samplesOf(file.replace('.txt', ''), readFileSync(`${folder}${file}`, 'utf8')));
}

function samplesOf(topic: string, text: string): Sample[] {
  return text
    .split(/^=== /mu)
    .slice(1)
    .map((sample) => {
      const [name = '', ...sections] = sample.split(/\n--- /u);
      return { name: `${topic}: ${name}`, sections: new Map(sections.map(sectionOf)) };
    });
}

function sectionOf(text: string): [string, string] {
  const end = text.indexOf('\n');
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
}

function section(sample: Sample, name: string): string {
  const text = sample.sections.get(name);
  if (text === undefined) throw new Error(`${sample.name} has no section ${name}`);
  return text;
}

const parsers = new Map<string, ReplyParser>();

function parserFor(sample: Sample): ReplyParser {
  const type = section(sample, 'type');
  const known = parsers.get(type) ?? parserOf(type, DEFINITIONS);
  parsers.set(type, known);
  return known;
}

function shown(outcome: ParseOutcome): string {
  if (outcome.ok) return outcome.value.json;
  const [first] = outcome.failure.details;
  return `refused${first?.path === '' ? '' : ` at ${first?.path}`}: ${first?.message}`;
}

function flagsOf(outcome: ParseOutcome): string {
  return outcome.ok ? outcome.value.flags.map((flag) => `${flag.flag} ${flag.path}`.trim()).join('\n') : '';
}

const values = samplesIn(FOLDER);
const streams = samplesIn(`${FOLDER}streams/`);

test('there are enough samples', () => {
  expect(values.length).toBeGreaterThanOrEqual(FEWEST_VALUES);
  expect(streams.length).toBeGreaterThanOrEqual(FEWEST_STREAMS);
});

test.each(values)('$name', (sample) => {
  const outcome = parserFor(sample).parse(section(sample, 'reply'));
  expect(shown(outcome)).toBe(section(sample, 'value').trimEnd());
  expect(flagsOf(outcome)).toBe(section(sample, 'flags').trim());
  if (outcome.ok) expect(JSON.stringify(outcome.value.value)).toBe(JSON.stringify(JSON.parse(outcome.value.json)));
});

test.each(streams)('$name, in pieces', (sample) => {
  const [heading, reply] = [...sample.sections].find(([name]) => name.startsWith('reply')) ?? ['', ''];
  const size = Number(heading.replace('reply in pieces of ', ''));
  const pieces = reply.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
  const parser = parserFor(sample);
  expect(partialsOf(parser, pieces).join('\n')).toBe(section(sample, 'partials').trim());
  expect(shown(parser.parse(reply))).toBe(section(sample, 'value').trimEnd());
});
