import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_LOSSES, type ParsedReply } from '../../../src/runtime/reply/reply-parser.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { parserOf } from './parser-of.ts';

const DEFINITIONS = `
class Row {
  id int
  note int?
}
`;

const integers = parserOf('int[]');
const rows = parserOf('Row[]', DEFINITIONS);

/** Returns the parsed reply. Throws if the reply does not match. */
function parsed(parser: typeof rows, reply: string): ParsedReply {
  const outcome = parser.parse(reply);
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}

test('losses are counted exactly while 100 of them have a flag', () => {
  const words = Array.from({ length: 300 }, () => 'word');
  const { losses, flags } = parsed(integers, JSON.stringify([1, ...words]));
  expect(losses).toEqual({ dropped: 300, defaulted: 0 });
  expect(flags.filter((flag) => flag.losses !== undefined)).toHaveLength(100);
  expect(flags[0]).toMatchObject({ flag: 'dropped-item', path: '[1]', losses: { dropped: 1, defaulted: 0 } });
});

test('other flags do not displace the flags of losses', () => {
  const many = Array.from({ length: 150 }, (_, id) => ({ id, extra: true }));
  const { losses, flags } = parsed(rows, JSON.stringify([...many, { id: 150, note: 'n' }]));
  expect(losses).toEqual({ dropped: 0, defaulted: 1 });
  expect(flags.filter(({ flag }) => flag === 'extra-key')).toHaveLength(100);
  expect(flags.at(-1)).toMatchObject({ flag: 'null-for-value', path: '[150].note' });
});

test('values without losses share one object', () => {
  for (const reply of ['[{"id": 1}]', '[{"id": "1", "note": null}]', '```\n[{id: 1, other: "x",}]\n```']) {
    expect(parsed(rows, reply).losses).toBe(NO_LOSSES);
  }
});

const member = fc.oneof(
  fc.integer({ min: 0, max: 9 }).map((id) => ({ text: JSON.stringify({ id }), dropped: 0, defaulted: 0 })),
  fc.constant({ text: '{"id": 1, "note": "a word"}', dropped: 0, defaulted: 1 }),
  fc.constant({ text: '{"id": 1, "note": "n/a"}', dropped: 0, defaulted: 0 }),
  fc.constant({ text: '{"note": 1}', dropped: 1, defaulted: 0 }),
);

test('every loss counts once, whole or in deltas, and its flag reports it', () => {
  const replies = fc.tuple(fc.array(member, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }));
  assertProperty(
    fc.property(replies, ([members, size]) => {
      const reply = `[{"id": 0}${members.map(({ text }) => `, ${text}`).join('')}]`;
      const { losses, flags } = parsed(rows, reply);
      expect(losses).toEqual(sumOf(members));
      expect(sumOf(flags.map((flag) => flag.losses ?? NO_LOSSES))).toEqual(losses);
      const stream = rows.openStream();
      for (let at = 0; at < reply.length; at += size) {
        stream.push(reply.slice(at, at + size));
        stream.takePartial();
      }
      const outcome = stream.finish();
      expect(outcome.ok && outcome.value.losses).toEqual(losses);
    }),
  );
});

function sumOf(all: ReadonlyArray<ParsedReply['losses']>): ParsedReply['losses'] {
  return {
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
    defaulted: all.reduce((sum, { defaulted }) => sum + defaulted, 0),
  };
}
