import { joinParts } from '../../base/text-parts.ts';
import { err, ok } from '../../base/result.ts';
import type { CompileCondition, DefinitionIndex } from '../../schema/program.ts';
import type { ExplainedCandidate, Explanation } from '../../schema/explanation.ts';
import type { Violation } from '../../schema/violation.ts';
import { typeText } from '../../schema/type-graph.ts';
import type { ClassType, FieldType, Type } from '../../schema/type.ts';
import { replyFailure } from './reply.ts';
import { createReplyParser } from './create-reply-parser.ts';
import { JsonReply, type ParseOutcome, type ReplyParser, type ReplyStream } from './reply-parser.ts';

/** A return type, and the replies of a provider that received it as a member of an object. */
interface WrappedReplies {
  readonly returns: Type;
  readonly definitions: DefinitionIndex;
  readonly compileCondition: CompileCondition;
  /** The name of the member. */
  readonly wrapper: string;
  /** The parser of the value alone. */
  readonly plain: ReplyParser;
}

/**
 * Creates the parser of replies whose value is the only member of an object, because providers generate only objects:
 * `{"result": [1, 2]}`. Outcomes, partials and explanations describe the value alone. `plain` parses a reply that does not begin with
 * that member, because the model ignored its schema.
 */
export function createWrappedParser(parts: WrappedReplies): ReplyParser {
  const { compileCondition, definitions, plain, returns, wrapper } = parts;
  const type = wrapperClass(wrapper, returns);
  const classes = new Map([...definitions.classes, [type.name, type]]);
  const object: Type = { kind: 'class', name: type.name };
  const wrapped = createReplyParser(object, { ...definitions, classes }, compileCondition);
  return new WrappedParser(plain, wrapped, new Wrapper(wrapper));
}

/** The name of the class in messages: the type of the value. No class of the definitions has such a name. */
function wrapperClass(wrapper: string, returns: Type): ClassType {
  const field: FieldType = { name: wrapper, type: returns, skip: false, streamNotNull: false };
  return { name: `(${typeText(returns)})`, fields: [field], constraints: [], streamDone: false, dynamic: false };
}

class WrappedParser implements ReplyParser {
  readonly #plain: ReplyParser;
  readonly #wrapped: ReplyParser;
  readonly #wrapper: Wrapper;
  #unbegun: string | undefined;

  constructor(plain: ReplyParser, wrapped: ReplyParser, wrapper: Wrapper) {
    this.#plain = plain;
    this.#wrapped = wrapped;
    this.#wrapper = wrapper;
  }

  parse(text: string, isCut?: boolean): ParseOutcome {
    if (!this.#isWrapped(text)) return this.#plain.parse(text, isCut);
    return this.#wrapper.outcome(this.#wrapped.parse(text, isCut));
  }

  parseShort(text: string, isCut?: boolean): ParseOutcome | undefined {
    if (!this.#isWrapped(text)) return this.#plain.parseShort(text, isCut);
    const outcome = this.#wrapped.parseShort(text, isCut);
    return outcome && this.#wrapper.outcome(outcome);
  }

  openStream(): ReplyStream {
    return new WrappedStream({
      plain: this.#plain,
      wrapped: this.#wrapped,
      wrapper: this.#wrapper,
      unbegun: this.#valueBefore(),
    });
  }

  /** The value in partials before it begins: null, or null with its checks. */
  #valueBefore(): string {
    if (this.#unbegun === undefined) {
      const stream = this.#wrapped.openStream();
      stream.push(this.#wrapper.before);
      this.#unbegun = joinParts(this.#wrapper.unwrap(stream.takePartial() ?? []));
    }
    return this.#unbegun;
  }

  explain(text: string): Explanation {
    if (!this.#isWrapped(text)) return this.#plain.explain(text);
    return this.#wrapper.explanation(this.#wrapped.explain(text));
  }

  explainShort(text: string): Explanation | undefined {
    if (!this.#isWrapped(text)) return this.#plain.explainShort(text);
    const explanation = this.#wrapped.explainShort(text);
    return explanation && this.#wrapper.explanation(explanation);
  }

  #isWrapped(text: string): boolean {
    return this.#wrapper.begins(text) === 'yes';
  }
}

interface WrappedStreamParts {
  readonly plain: ReplyParser;
  readonly wrapped: ReplyParser;
  readonly wrapper: Wrapper;
  /** The value in partials before it begins. */
  readonly unbegun: string;
}

/** Reads a stream with one of two parsers. The first characters decide which. */
class WrappedStream implements ReplyStream {
  readonly #parts: WrappedStreamParts;
  /** The text so far, until the stream is known to be wrapped or not. */
  #head = '';
  #stream: ReplyStream | undefined;
  #isWrapped = false;

  constructor(parts: WrappedStreamParts) {
    this.#parts = parts;
  }

  push(delta: string): void {
    if (this.#stream !== undefined) {
      this.#stream.push(delta);
      return;
    }
    this.#head += delta;
    const begins = this.#parts.wrapper.begins(this.#head);
    if (begins !== 'unknown') this.#open(begins === 'yes');
  }

  takePartial(): readonly string[] | undefined {
    const partial = this.#stream?.takePartial();
    if (partial === undefined || !this.#isWrapped) return partial;
    const parts = this.#parts.wrapper.unwrap(partial);
    const [json = ''] = parts;
    const isEmpty = json === '[]' || json === '{}';
    return parts.length <= 1 && json === this.#parts.unbegun && !isEmpty ? undefined : parts;
  }

  get isBehind(): boolean {
    return this.#stream?.isBehind === true;
  }

  get toRead(): number {
    return this.#stream?.toRead ?? this.#head.length;
  }

  finish(isCut?: boolean): ParseOutcome {
    const outcome = this.#opened.finish(isCut);
    return this.#isWrapped ? this.#parts.wrapper.outcome(outcome) : outcome;
  }

  finishShort(isCut?: boolean): ParseOutcome | undefined {
    const outcome = this.#opened.finishShort(isCut);
    return outcome && this.#isWrapped ? this.#parts.wrapper.outcome(outcome) : outcome;
  }

  get #opened(): ReplyStream {
    return this.#stream ?? this.#open(false);
  }

  #open(isWrapped: boolean): ReplyStream {
    const stream = (isWrapped ? this.#parts.wrapped : this.#parts.plain).openStream();
    stream.push(this.#head);
    this.#head = '';
    this.#stream = stream;
    this.#isWrapped = isWrapped;
    return stream;
  }
}

/** If the member is not within this many characters, the text is not such an object. Otherwise endless white space would wait forever. */
const MAX_HEAD = 256;

/** The object around a value. */
class Wrapper {
  readonly #key: string;
  /** The text before the value. */
  readonly before: string;

  constructor(key: string) {
    this.#key = key;
    this.before = `{${JSON.stringify(key)}:`;
  }

  /** Whether a text begins with the object and its member; unknown while the text is too short. */
  begins(text: string): 'yes' | 'no' | 'unknown' {
    let matched = 0;
    const end = Math.min(text.length, MAX_HEAD);
    for (let at = 0; at < end && matched < this.before.length; at += 1) {
      if (text[at] === this.before[matched]) matched += 1;
      else if (!/\s/u.test(text.charAt(at))) return 'no';
    }
    if (matched === this.before.length) return 'yes';
    return end < MAX_HEAD ? 'unknown' : 'no';
  }

  outcome(outcome: ParseOutcome): ParseOutcome {
    if (outcome.ok) {
      const { json, flags, losses } = outcome.value;
      const inner = flags.map((flag) => ({ ...flag, path: this.#pathIn(flag.path) }));
      return ok(new JsonReply(joinParts(this.unwrap([json])), inner, losses));
    }
    return err(replyFailure(outcome.failure.details.map((detail) => this.#violation(detail))));
  }

  explanation({ candidates, omitted }: Explanation): Explanation {
    return { candidates: candidates.map((each) => this.#candidate(each)), omitted };
  }

  /** Returns the JSON text of the value from the JSON text of its object, both in parts. */
  unwrap(parts: readonly string[]): readonly string[] {
    const last = parts.length - 1;
    return parts.map((part, at) => part.slice(at === 0 ? this.before.length : 0, at === last ? -1 : undefined));
  }

  #violation({ path, message }: Violation): Violation {
    const isMissing = path === this.#key && message === `the required field "${this.#key}" is missing`;
    return { path: this.#pathIn(path), message: isMissing ? 'the reply ends before the value' : message };
  }

  #candidate({ json, reasons, flags, ...others }: ExplainedCandidate): ExplainedCandidate {
    const { cut = false } = others;
    const inner = (path: string): string => this.#pathIn(path);
    return {
      ...others,
      // The end of a cut text is missing.
      ...(json === undefined ? {} : { json: json.slice(this.before.length, cut ? undefined : -1) }),
      ...(reasons === undefined ? {} : { reasons: reasons.map((each) => this.#violation(each)) }),
      flags: flags.map((flag) => ({ ...flag, path: inner(flag.path) })),
    };
  }

  /** A path without its first step, the member. */
  #pathIn(path: string): string {
    return path.startsWith(this.#key) ? path.slice(this.#key.length).replace(/^\./u, '') : path;
  }
}
