import { expect, test } from 'vitest';
import {
  clientLabel,
  EMPTY_CUSTOM_CLIENT,
  missingVariables,
  OWN_CLIENT,
  requestBody,
  requestOptions,
  differingPaths,
  estimateMessageTokens,
  estimateTokens,
  replySegments,
  growth,
  type Run,
} from '../../src/playground/data/run.ts';
import type { ExplainedCandidate } from '../../src/schema/explanation.ts';
import type { PlaygroundDocument, PlaygroundFunction } from '../../src/schema/playground-document.ts';
import { string } from '../support/definitions.ts';

const FN: PlaygroundFunction = { name: 'F', parameters: [], returns: string, client: 'Main', examples: [] };

const DOCUMENT: PlaygroundDocument = {
  program: 'hash',
  problems: [],
  title: 'svc',
  version: '1',
  clientRegistry: 'open',
  doors: [],
  functions: [FN],
  classes: [],
  enums: [],
  aliases: [],
  providers: ['openai'],
  calls: { off: 'This server keeps no calls.' },
  clients: [
    { name: 'Main', provider: 'fallback', members: ['First', 'Second', 'Main'] },
    { name: 'First', provider: 'openai', missing: 'FIRST_KEY' },
    { name: 'Second', provider: 'round-robin', members: ['Third'] },
    { name: 'Third', provider: 'openai', missing: 'THIRD_KEY' },
  ],
};

test('the options of a request select the client and carry the keys that the user entered', () => {
  expect(requestOptions(OWN_CLIENT, {})).toBeUndefined();
  expect(requestOptions({ kind: 'named', name: 'First' }, { FIRST_KEY: 'k', OTHER: '' })).toEqual({
    client: 'First',
    env: { FIRST_KEY: 'k' },
  });
  const custom = { ...EMPTY_CUSTOM_CLIENT, model: 'm', apiKey: 'k' };
  expect(requestOptions(custom, {})).toEqual({
    client_registry: {
      primary: 'Playground',
      clients: [{ name: 'Playground', provider: 'openai', options: { model: 'm', api_key: 'k' } }],
    },
  });
  expect(clientLabel(custom, FN)).toBe('openai/m');
  expect(requestBody({ a: 1 }, undefined)).toEqual({ a: 1 });
  expect(requestBody({ a: 1 }, { client: 'First' })).toEqual({ a: 1, svc_options: { client: 'First' } });
});

test('the missing variables of a strategy are those of all its members', () => {
  expect(missingVariables(OWN_CLIENT, FN, DOCUMENT)).toEqual(['FIRST_KEY', 'THIRD_KEY']);
  expect(missingVariables({ kind: 'named', name: 'Third' }, FN, DOCUMENT)).toEqual(['THIRD_KEY']);
  expect(missingVariables(EMPTY_CUSTOM_CLIENT, FN, DOCUMENT)).toEqual([]);
});

test('values differ at scalars, at members that only one has, and where their kinds differ', () => {
  const a = { same: 1, list: [1, { x: 'a' }], gone: null, kind: [] };
  const b = { same: 1, list: [1, { x: 'b' }, 3], 'new one': true, kind: {} };
  expect([...differingPaths(a, b)]).toEqual(['list[1].x', 'list[2]', 'gone', 'kind', '["new one"]']);
  expect(differingPaths(a, structuredClone(a)).size).toBe(0);
});

test('the estimate of tokens counts words, parts of long words, signs and characters of other scripts', () => {
  expect(estimateTokens('The quick brown fox jumps over the lazy dog.')).toBe(10);
  expect(estimateTokens('{"name": "Ada", "age": 36}')).toBe(11);
  expect(estimateTokens('internationalization')).toBe(3);
  expect(estimateTokens('世界')).toBe(2);
  expect(estimateTokens('')).toBe(0);
  expect(estimateMessageTokens(['Hello', 'world'])).toBe(6);
});

function candidate(from: number, to: number, verdict: ExplainedCandidate['verdict']): ExplainedCandidate {
  return { place: 'prose', from, to, verdict, flags: [] };
}

test('a reply is cut where candidates begin and end; the better verdict wins', () => {
  const reply = 'a {b {c}} d';
  const candidates = [
    candidate(2, 9, 'mismatch'),
    candidate(5, 8, 'taken'),
    { ...candidate(0, 11, 'mismatch'), place: 'text' as const },
  ];
  expect(replySegments(reply, { candidates, omitted: 0 })).toEqual([
    { text: 'a ' },
    { text: '{b ', verdict: 'mismatch' },
    { text: '{c}', verdict: 'taken' },
    { text: '}', verdict: 'mismatch' },
    { text: ' d' },
  ]);
  expect(replySegments(reply, undefined)).toEqual([{ text: reply }]);
  expect(replySegments('', undefined)).toEqual([]);
});

const RUN = { partials: 1, resets: 0, reply: 'a' } as Run;

test.each([
  [{ text: 'b' }, { state: 'streaming', reply: 'ab' }],
  [{ partial_result: 2 }, { state: 'streaming', value: 2, partials: 2 }],
  [{ reset: { reason: 'cut' } }, { state: 'waiting', reply: '', resets: 1 }],
  // The page does not ask for it.
  [{ reasoning: 'Hm.' }, {}],
])('the message %j changes a run', (event, change) => {
  expect(growth(event, RUN)).toEqual(change);
});
