import { expect, test } from 'vitest';
import { UnreadAnswers } from '../../../src/server/http/transports/transport-state.ts';

const LIMIT = 100;

/** Answers of these sizes by name, and the names of those that were cut. */
function answersOf(sizes: Readonly<Record<string, number>>) {
  const unread = new UnreadAnswers(LIMIT);
  const cut: string[] = [];
  const entries = Object.entries(sizes).map(
    ([name, unreadBytes]) => [name, { unreadBytes, cut: () => cut.push(name) }] as const,
  );
  const answers = new Map(entries);
  const named = (name: string) => {
    const answer = answers.get(name);
    if (answer === undefined) throw new Error(`no answer ${name}`);
    return answer;
  };
  return {
    unread,
    cut,
    add: (...names: string[]) => names.forEach((name) => unread.add(named(name))),
    progressed: (name: string) => unread.progressed(named(name)),
    remove: (name: string) => unread.delete(named(name)),
  };
}

test('of equal answers, the one that waits longest is cut', () => {
  const { add, cut, unread } = answersOf({ a: 40, b: 40, c: 40, d: 40 });
  add('a', 'b', 'c', 'd');
  expect(cut).toEqual(['a', 'b']);
  expect(unread.size).toBe(2);
});

test('a client that accepts data goes behind those that accept none', () => {
  const { add, cut, progressed } = answersOf({ reader: 40, b: 40, c: 40, d: 40 });
  add('reader', 'b');
  progressed('reader');
  add('c');
  progressed('reader');
  add('d');
  expect(cut).toEqual(['b', 'c']);
});

test('answers of less than half the largest are kept', () => {
  const { add, cut } = answersOf({ small: 29, large: 60, second: 40 });
  add('small', 'large', 'second');
  expect(cut).toEqual(['large']);
});

test('a single answer is always allowed', () => {
  const { add, cut } = answersOf({ huge: 1000, next: 10 });
  add('huge');
  expect(cut).toEqual([]);
  add('next');
  expect(cut).toEqual(['huge']);
});

test('an answer that was accepted frees its bytes', () => {
  const { add, cut, remove, progressed, unread } = answersOf({ a: 60, b: 60 });
  add('a', 'a');
  remove('a');
  remove('a');
  progressed('a');
  add('b');
  expect(cut).toEqual([]);
  expect(unread.size).toBe(1);
});
