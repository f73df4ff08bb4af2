import { compileCondition } from '../../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../../src/runtime/reply/create-reply-parser.ts';
import type { ParsedReply, ParseOutcome, ReplyParser } from '../../src/runtime/reply/reply-parser.ts';
import { indexDefinitions, type DefinitionIndex, type FunctionType } from '../../src/schema/program.ts';
import { compileText } from '../compile-text.ts';
import { Random } from './random.ts';
import type { Reading } from './readings.ts';
import { definitionFileOf, type Subject } from './subjects.ts';

interface Losses {
  readonly dropped: number;
  readonly defaulted: number;
}

/** The longest delta of a stream, in UTF-16 units. */
const MAX_DELTA = 12;

/** The functions that return the types, by the names of the types. Throws if the definitions have errors. */
export function compiledSubjects(subjects: readonly Subject[]): {
  readonly definitions: DefinitionIndex;
  readonly functions: ReadonlyMap<string, FunctionType>;
} {
  const program = compileText(definitionFileOf(subjects));
  const functions = program.functions.map((fn, index) => [subjects[index]?.name ?? '', fn] as const);
  return { definitions: indexDefinitions(program), functions: new Map(functions) };
}

/** The parsers of all types, by their names. Throws if the definitions have errors. */
export function svcParsers(subjects: readonly Subject[]): ReadonlyMap<string, ReplyParser> {
  const { definitions, functions } = compiledSubjects(subjects);
  return new Map(
    [...functions].map(([name, { returns }]) => [name, createReplyParser(returns, definitions, compileCondition)]),
  );
}

export function readWhole(parser: ReplyParser, reply: string): Reading {
  return readingOf(parser.parse(reply));
}

/** Reads the reply as a stream in deltas of random lengths, and takes most partials. */
export function readStream(parser: ReplyParser, reply: string, seed: number): Reading {
  const random = new Random(`${seed} ${reply}`);
  const stream = parser.openStream();
  for (let at = 0; at < reply.length;) {
    const end = at + random.int(1, MAX_DELTA);
    stream.push(reply.slice(at, end));
    if (random.chance(0.8)) stream.takePartial();
    at = end;
  }
  return readingOf(stream.finish());
}

function readingOf(outcome: ParseOutcome): Reading {
  if (!outcome.ok) return { kind: 'refused', message: outcome.failure.message };
  const { value, losses } = outcome.value as ParsedReply & { readonly losses?: Losses };
  return { kind: 'value', value, losses: losses === undefined ? 0 : losses.dropped + losses.defaulted };
}
