import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../../src/base/json.ts';
import { StepBudget } from '../../../src/runtime/reply/coerce/step-budget.ts';
import type { ParseOutcome, ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { cut } from '../../../test/runtime/reply/cut.ts';
import { PATTERNS as GROWING, SCHEMAS } from '../../../test/runtime/reply/growth-cases.ts';
import {
  HOSTILE_DEFINITIONS,
  HOSTILE_TYPES,
  LONG_TEXTS,
  OBJECTS,
  PATTERNS,
} from '../../../test/runtime/reply/hostile-patterns.ts';
import { parserOf } from '../../../test/runtime/reply/parser-of.ts';
import type { Random } from '../../recover/random.ts';
import { broken, pollution, type Outcome, type Target } from '../target.ts';

/** A reply, the number of its type, and the lengths of its deltas as a stream. */
export type ReplyInput = { readonly type: number; readonly reply: string; readonly deltas: readonly number[] };

/** The steps that every reply is allowed, and the further steps for each character, in each way that svc reads it. */
const LEAST_STEPS = 1_000_000;
const STEPS_PER_CHARACTER = 64;

/** A reply of this length, repeated, shows how its steps grow. */
const REPEATED = 300;
/** The most steps for twice the text, as a multiple, and the steps below which a multiple proves nothing. */
const MAX_GROWTH = 2.5;
const FEW_STEPS = 5_000;
/** Repetitions that cannot all be nested in each other: svc reads 400 levels. */
const MORE_THAN_LEVELS = 500;

interface Type {
  readonly returns: string;
  readonly definitions: string;
}

const TYPES: readonly Type[] = [
  ...SCHEMAS,
  ...[...HOSTILE_TYPES, 'string[]', 'map<string, int>', 'float', 'bool', '"yes" | "no" | 1', 'Leaf'].map((returns) => ({
    returns,
    definitions: HOSTILE_DEFINITIONS,
  })),
];

/** Makes the target of a parser; by default svc's. */
export function replyTarget(parserFor: (type: Type) => ReplyParser = svcParser): Target<ReplyInput> {
  const parsers = new Map<number, ReplyParser>();
  const parserAt = (type: number): ReplyParser => {
    const index = Math.abs(Math.trunc(type)) % TYPES.length;
    const parser = parsers.get(index) ?? parserFor(TYPES[index] ?? { returns: 'string', definitions: '' });
    parsers.set(index, parser);
    return parser;
  };
  return {
    name: 'reply',
    covers: ['/src/runtime/reply/'],
    dictionary: [...PATTERNS, ...OBJECTS, ...LONG_TEXTS, ...WORDS],
    seeds: SCHEMAS.flatMap((schema, type) =>
      GROWING.slice(0, 24).map((pattern) => ({ type, reply: pattern.reply(schema, 200), deltas: [7] })),
    ),
    generate,
    check: ({ type, reply, deltas }) => check(parserAt(type), reply, deltas),
  };
}

function svcParser({ returns, definitions }: Type): ReplyParser {
  return parserOf(returns, definitions);
}

const WORDS = [
  'null',
  'true',
  '"__proto__":',
  '"constructor":',
  '"kind0":',
  '"text":',
  '\ud800',
  '```json\n',
  '\n```\n',
  '- ',
];
const WHOLE = [...PATTERNS, ...OBJECTS, ...LONG_TEXTS, ...WORDS, 'Here is it: ', ', ', ': ', '}', ']', '"', '1.5', 'a'];

function generate(random: Random): ReplyInput {
  const parts = Array.from({ length: random.int(1, 40) }, () => random.pick(WHOLE).repeat(random.pick([1, 1, 1, 3])));
  const deltas = Array.from({ length: random.int(1, 4) }, () => random.pick([1, 2, 3, 7, 50, 1_000]));
  return { type: random.int(0, TYPES.length - 1), reply: parts.join(''), deltas };
}

function check(parser: ReplyParser, reply: string, deltas: readonly number[]): Outcome {
  const before = StepBudget.spent;
  const outcome = parser.parse(reply);
  const steps = StepBudget.spent - before;
  const most = LEAST_STEPS + STEPS_PER_CHARACTER * reply.length;
  if (steps > most) return broken('takes too many steps', `${steps} steps, at most ${most}`);
  return (
    valueFault(outcome) ??
    streamFault(parser, reply, deltas, outcome) ??
    growthFault(parser, reply) ??
    pollution() ?? { trait: outcome.ok ? 'value' : 'refused' }
  );
}

function valueFault(outcome: ParseOutcome): Outcome | undefined {
  if (!outcome.ok) return outcome.failure.message === '' ? broken('refuses without a message', '') : undefined;
  const { json, losses, flags } = outcome.value;
  if (JSON.stringify(JSON.parse(json) as JsonValue) === undefined) return broken('the value is not JSON', json);
  if (losses.dropped < 0 || losses.defaulted < 0) return broken('negative losses', JSON.stringify(losses));
  return flags.every(({ flag }) => flag !== '') ? undefined : broken('a flag without a name', JSON.stringify(flags));
}

function streamFault(
  parser: ReplyParser,
  reply: string,
  deltas: readonly number[],
  whole: ParseOutcome,
): Outcome | undefined {
  const lengths = deltas.map((length) => Math.max(1, Math.abs(Math.trunc(length)) || 1));
  const stream = parser.openStream();
  for (const [at, delta] of cut(reply, lengths.length === 0 ? [1] : lengths).entries()) {
    stream.push(delta);
    // Partials of every delta of a long reply would take most of the time.
    const partial = at < 200 ? stream.takePartial()?.join('') : undefined;
    if (partial !== undefined) JSON.parse(partial);
  }
  const end = stream.finish();
  if (isDeepStrictEqual(plain(end), plain(whole))) return undefined;
  return broken('a stream ends differently from the whole reply', JSON.stringify([plain(end), plain(whole)]));
}

function plain(outcome: ParseOutcome): unknown {
  if (!outcome.ok) return outcome.failure;
  const { json, flags, losses } = outcome.value;
  return { json, flags, losses };
}

function growthFault(parser: ReplyParser, reply: string): Outcome | undefined {
  const times = Math.ceil(REPEATED / Math.max(1, reply.length));
  if (reply.length > REPEATED) return undefined;
  const stepsOf = (count: number): number => {
    const before = StepBudget.spent;
    parser.parse(reply.repeat(count));
    return StepBudget.spent - before;
  };
  const once = stepsOf(times);
  const twice = stepsOf(2 * times);
  if (twice < FEW_STEPS || twice <= MAX_GROWTH * once) return undefined;
  // The steps of a nested value grow with the square of its depth, which is limited.
  const [many, double] = [stepsOf(MORE_THAN_LEVELS), stepsOf(2 * MORE_THAN_LEVELS)];
  if (double <= MAX_GROWTH * many + FEW_STEPS) return undefined;
  return broken(
    'steps grow faster than the reply',
    `${many} steps for ${MORE_THAN_LEVELS} repetitions, ${double} for twice as many`,
  );
}
