import type { CompileCondition, DefinitionIndex, FunctionType } from '../../schema/program.ts';
import { structuresOf, StructuredOutputs, wrapperOf, type StructuredOutput } from '../../schema/structured-output.ts';
import type { ModelClient } from '../model/model-client.ts';
import { compileCondition } from '../prompt/compile-condition.ts';
import { createReplyParser } from '../reply/create-reply-parser.ts';
import type { ReplyParser } from '../reply/reply-parser.ts';
import { createWrappedParser } from '../reply/wrapped-replies.ts';

/** The schemas that svc sends to providers for the replies of one function, and the parsers of these replies. */
export class FunctionReplies {
  readonly #plain: ReplyParser;
  readonly #fn: FunctionType;
  readonly #definitions: DefinitionIndex;
  readonly #outputs: StructuredOutputs;
  readonly #compile: CompileCondition;
  #wrapped: ReplyParser | undefined;
  #canBeWrapped: boolean | undefined;

  constructor(fn: FunctionType, definitions: DefinitionIndex, compile: CompileCondition = compileCondition) {
    this.#fn = fn;
    this.#definitions = definitions;
    this.#outputs = new StructuredOutputs(fn, definitions);
    this.#compile = compile;
    this.#plain = createReplyParser(fn.returns, definitions, compile);
  }

  /** Returns the schema that a client sends; undefined if only the prompt describes the reply. */
  outputFor({ structured }: Pick<ModelClient, 'structured'>): StructuredOutput | undefined {
    const output = structured && this.#outputs.of(structured.limits);
    return output?.ok === true ? output.value : undefined;
  }

  /** Returns the parser of replies. `wrapped`: they can be in a wrapper. */
  parserFor(wrapped: boolean): ReplyParser {
    if (!wrapped) return this.#plain;
    this.#wrapped ??= this.#createWrapped();
    return this.#wrapped;
  }

  /** True if a client of the function can reply in a wrapper. */
  get canBeWrapped(): boolean {
    this.#canBeWrapped ??= [...structuresOf(this.#fn.client, this.#definitions).values()].some(
      (each) => each.kind === 'form' && this.outputFor({ structured: each.form })?.wrapper !== undefined,
    );
    return this.#canBeWrapped;
  }

  #createWrapped(): ReplyParser {
    const { returns } = this.#fn;
    const definitions = this.#definitions;
    const wrapper = wrapperOf(returns, definitions);
    if (wrapper === undefined) return this.#plain;
    return createWrappedParser({
      returns,
      definitions,
      compileCondition: this.#compile,
      wrapper,
      plain: this.#plain,
    });
  }
}
