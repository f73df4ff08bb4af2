import { isDeepStrictEqual } from 'node:util';
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { compileCondition } from '../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../src/schema/program.ts';

/** A recorded conformance case: definitions, a return type, a reply, and the expected value. */
export interface RecordedCase {
  readonly id: string;
  readonly schema: string;
  readonly target: string;
  readonly raw: string;
  readonly expect?: unknown;
  readonly fails?: boolean;
  readonly ok?: boolean;
  /** The reply stops early: `expect` is the partial for the whole text. */
  readonly truncated?: boolean;
  readonly peer_stream?: { readonly partials: readonly unknown[]; readonly final?: unknown };
}

export interface Verdict {
  readonly agrees: boolean;
  readonly got: string;
  /** The reply was refused, or there was no partial. */
  readonly refused?: boolean;
  /** The value has reported losses. */
  readonly lossy?: boolean;
}

/** Returns the reply parser of a type with its definitions, or the reason why they do not compile. */
export function replyParserOf(definitions: string, target: string): ReplyParser | string {
  const text = `${definitions}\nfunction Case(input: string) -> ${target} {\n  client "openai/x"\n  prompt #"{{ input }}"#\n}\n`;
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('case.baml', text)], options);
  const fn = program?.functions.find((candidate) => candidate.name === 'Case');
  if (program === undefined || fn === undefined) return `not compiled: ${diagnostics[0]?.message}`;
  return createReplyParser(fn.returns, indexDefinitions(program), compileCondition);
}

export function valueVerdict(each: RecordedCase, parser: ReplyParser): Verdict {
  if (each.truncated === true) return partialVerdict(each, parser);
  const outcome = parser.parse(each.raw);
  if (!outcome.ok) {
    return { agrees: each.fails === true, got: `refused: ${outcome.failure.message}`, refused: true };
  }
  const agrees = each.ok === true || (each.fails !== true && isDeepStrictEqual(outcome.value.value, each.expect));
  const { dropped, defaulted } = outcome.value.losses;
  return { agrees, got: outcome.value.json, lossy: dropped + defaulted > 0 };
}

function partialVerdict(each: RecordedCase, parser: ReplyParser): Verdict {
  const stream = parser.openStream();
  stream.push(each.raw);
  const partial = stream.takePartial()?.join('');
  if (partial === undefined) return { agrees: each.fails === true, got: 'no partial', refused: true };
  return { agrees: each.fails !== true && isDeepStrictEqual(JSON.parse(partial), each.expect), got: partial };
}
