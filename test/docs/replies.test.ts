import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReplyParser } from '../../src/runtime/reply/reply-parser.ts';
import { ROOT } from '../architecture/source-files.ts';
import { parserOf } from '../runtime/reply/parser-of.ts';

/*
 * An example on the page is a fence of four backticks: "reply" and the return type, the reply, `--- value` with the JSON
 * text or `refused` (with the reason, if it matters), and `--- explain` with the explanation, if it matters.
 * `UPDATE_DOCS=1` writes the explanations, and the values that are empty.
 */

const PATH = join(ROOT, 'docs/replies.md');
const EXAMPLE = /^````reply (.+)\n([^]*?)\n--- value\n([^]*?)(?:\n--- explain\n([^]*?))?\n?^````$/gmu;

interface Example {
  readonly returns: string;
  readonly reply: string;
  readonly value: string;
  readonly explanation: string | undefined;
}

const EMPTY: Example = { returns: 'int', reply: '', value: '', explanation: undefined };

const page = readFileSync(PATH, 'utf8');
const definitions = [...page.matchAll(/^```baml\n([^]*?)^```$/gmu)].map(([, text]) => text).join('\n');

function examplesIn(text: string): readonly Example[] {
  return [...text.matchAll(EXAMPLE)].map(([, returns = '', reply = '', value = '', explanation]) => ({
    returns,
    reply,
    value: value.trimEnd(),
    explanation: explanation?.trimEnd(),
  }));
}

function valueOf(parser: ReplyParser, reply: string): string {
  const outcome = parser.parse(reply);
  if (outcome.ok) return outcome.value.json;
  const [first] = outcome.failure.details;
  return `refused${first?.path === '' ? '' : ` at ${first?.path}`}: ${first?.message}`;
}

function explanationOf(parser: ReplyParser, reply: string): string {
  const lines = parser
    .explain(reply)
    .candidates.map(
      ({ place, verdict, json, reasons, criterion }) =>
        `${place} ${verdict}: ${criterion ?? reasons?.[0]?.message ?? json}`,
    );
  return lines.join('\n');
}

if (process.env['UPDATE_DOCS'] === '1') {
  const updated = page.replaceAll(EXAMPLE, (source) => {
    const [{ returns, reply, value, explanation } = EMPTY] = examplesIn(source);
    const parser = parserOf(returns, definitions);
    const written = value === '' ? valueOf(parser, reply) : value;
    const explained = explanation === undefined ? '' : `\n--- explain\n${explanationOf(parser, reply)}`;
    return `\`\`\`\`reply ${returns}\n${reply}\n--- value\n${written}${explained}\n\`\`\`\``;
  });
  writeFileSync(PATH, updated);
}

const examples = examplesIn(readFileSync(PATH, 'utf8'));

test('the page has examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(18);
  expect(page.match(/^````reply /gmu)).toHaveLength(examples.length);
});

test.each(examples)('$returns reads as documented: $reply', ({ returns, reply, value, explanation }) => {
  const parser = parserOf(returns, definitions);
  const actual = valueOf(parser, reply);
  expect(value === 'refused' ? actual.replace(/:.*/su, '').replace(/ at .*/u, '') : actual).toBe(value);
  if (explanation !== undefined) {
    expect(explanationOf(parser, reply), 'run the tests with UPDATE_DOCS=1').toBe(explanation);
  }
});

test('the test finds the parts of an example', () => {
  const text = '````reply int\n```\n5\n```\n--- value\n5\n--- explain\nfence taken: 5\n````\n';
  expect(examplesIn(text)).toEqual([
    { returns: 'int', reply: '```\n5\n```', value: '5', explanation: 'fence taken: 5' },
  ]);
});
