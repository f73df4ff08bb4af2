import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { CandidateFinder } from '../../../src/runtime/reply/candidates/candidate-finder.ts';
import type { ReplyNode } from '../../../src/runtime/reply/candidates/scan/reply-node.ts';
import { Scanner } from '../../../src/runtime/reply/candidates/scan/scanner.ts';
import { TreeSink } from '../../../src/runtime/reply/candidates/scan/tree-sink.ts';
import { cut } from './cut.ts';
import { SHARD } from './shards.ts';

const reply = fc.array(SHARD, { maxLength: 40 }).map((shards) => shards.join(''));
const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 200 })), {
  minLength: 1,
  maxLength: 6,
});

test('a reply is read the same wherever it is cut into deltas', () => {
  assertProperty(
    fc.property(reply, cuts, fc.boolean(), (text, lengths, isOpened) => {
      const whole = isOpened ? `{"a": ${text}` : text;
      expect(read(cut(whole, lengths))).toEqual(read([whole]));
    }),
    { numRuns: 20_000 },
  );
});

/** Texts that were once read differently in deltas. */
const KNOWN: readonly string[] = [
  '[-1.5...\n\ntwo words',
  '[two words,\n"a"\n\ntwo words',
  '[two words,\n1\n\ntwo words',
  `{"a": "”${' '.repeat(121)}",\n"a`,
  `{"${'a'.repeat(121)}”:": 1}`,
  String.raw`{"a": "x\", " - x": 1,` + '\n"b": 2}',
];

test.each(KNOWN)('%j is read the same at once and character by character', (text) => {
  expect(read(cut(text, [1]))).toEqual(read([text]));
});

function read(deltas: readonly string[]): unknown {
  const finder = new CandidateFinder(new Scanner(new TreeSink()));
  for (const delta of deltas) finder.push(delta);
  finder.finish();
  const candidates = finder.candidates.map(({ value, from, to, fence }) => ({ value: dump(value), from, to, fence }));
  const { fences, thoughtsEnd, openThought, gaveUp } = finder;
  return { candidates, fences, thoughtsEnd, openThought, gaveUp };
}

function dump(node: ReplyNode): unknown {
  const { kind, complete, text, repairs, quoted, keys } = node;
  return { kind, complete, text, repairs, quoted, keys, items: node.items.map(dump) };
}
