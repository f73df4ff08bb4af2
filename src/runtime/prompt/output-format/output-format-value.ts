import type { TextSink } from '../values/segment.ts';
import { type CallArguments, Special, type Value } from '../values/value.ts';
import { DEFAULT_OUTPUT_FORMAT, type OutputFormatOptions, outputFormatOptions } from './output-format-options.ts';

/** Options sets that one function remembers; templates use one or two. */
const MAX_REMEMBERED = 64;

/** `ctx.output_format`, with or without options. Texts are made once for each set of options. */
export class OutputFormatValue extends Special {
  readonly kindName = 'output format';
  readonly #describe: (options: OutputFormatOptions) => string;
  readonly #texts = new Map<string, string>();
  #plain: string | undefined;

  constructor(describe: (options: OutputFormatOptions) => string) {
    super();
    this.#describe = describe;
  }

  override call(args: CallArguments): Value {
    const options = outputFormatOptions(args);
    const key = JSON.stringify(options);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = this.#describe(options);
    if (this.#texts.size < MAX_REMEMBERED) this.#texts.set(key, text);
    return text;
  }

  override print(out: TextSink): void {
    this.#plain ??= this.#describe(DEFAULT_OUTPUT_FORMAT);
    out.write(this.#plain);
  }
}
