import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { Ok } from '../../../src/base/result.ts';
import { parseReply, type ParseHere } from '../../../src/runtime/call/parse-reply.ts';
import type { WholeReply } from '../../../src/runtime/call/runtime.ts';
import { JsonReply, NO_LOSSES, type ParsedReply, type ParseOutcome } from '../../../src/runtime/reply/reply-parser.ts';

const REPLY: WholeReply = {
  functionName: 'F',
  text: '"text"',
  wrapped: false,
  cancellation: new Cancellation(),
  deadlineAt: Infinity,
};

function outcome(json: string): Ok<ParsedReply> {
  return { ok: true, value: new JsonReply(json, [], NO_LOSSES) };
}

/** Where a reply is parsed if `short` is the outcome of the event loop. */
async function placeOf(
  short: ParseOutcome | undefined,
  options: { readonly threads: boolean; readonly toRead: number },
) {
  const here: ParseHere = { parse: () => outcome('"here, for long"'), parseShort: () => short };
  const elsewhere = { parseElsewhere: () => Promise.resolve(outcome('"on a thread"')) };
  const settings = { ...(options.threads ? elsewhere : {}), parseElsewhereAbove: 10 };
  const parsed = await parseReply(REPLY, settings, here, options.toRead);
  return parsed.ok ? parsed.value.json : 'a failure';
}

test.each([
  ['a reply that takes a short time, here', outcome('"here"'), { threads: true, toRead: 10 }, '"here"'],
  ['a reply that takes longer, on a thread', undefined, { threads: true, toRead: 10 }, '"on a thread"'],
  ['a long reply, on a thread', outcome('"here"'), { threads: true, toRead: 11 }, '"on a thread"'],
  ['any reply without threads, here', undefined, { threads: false, toRead: 11 }, '"here, for long"'],
] as const)('svc parses %s', async (_, short, options, place) => {
  expect(await placeOf(short, options)).toBe(place);
});
