import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Type } from '../../../schema/type.ts';
import type { PromptOutput } from '../values/output.ts';
import { type CallArguments, Special, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { describeOutput } from './describe-output.ts';
import { DEFAULT_OUTPUT_FORMAT, outputFormatOptions } from './output-format-options.ts';

/** Sets of options whose texts are kept; templates use one or two. */
const MAX_REMEMBERED = 64;

/** `ctx.output_format`, with or without options. Keeps the text for each set of options. */
export class OutputFormatValue extends Special {
  readonly kindName = 'output format';
  readonly #target: Type;
  readonly #index: DefinitionIndex;
  readonly #texts = new Map<string, string>();
  #plain: string | undefined;

  constructor(target: Type, index: DefinitionIndex) {
    super();
    this.#target = target;
    this.#index = index;
  }

  override call(args: CallArguments, work: Work): Value {
    const options = outputFormatOptions(args, work);
    const key = JSON.stringify(options);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = describeOutput(this.#target, this.#index, options);
    if (this.#texts.size < MAX_REMEMBERED) this.#texts.set(key, text);
    return text;
  }

  override print(out: PromptOutput): void {
    this.#plain ??= describeOutput(this.#target, this.#index, DEFAULT_OUTPUT_FORMAT);
    out.write(this.#plain);
  }
}
