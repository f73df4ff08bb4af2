import type { Type } from '../../../schema/type.ts';
import { OUTPUT_FORMAT_OPTIONS } from '../../../schema/template-vocabulary.ts';
import { TemplateFault } from '../template-fault.ts';
import type { PromptOutput } from '../values/output.ts';
import { plainTextOf } from '../values/print-value.ts';
import { type CallArguments, isList, isTrue, Special, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { DEFAULT_OUTPUT_FORMAT, describeOutput, type OutputFormatOptions } from './describe-output.ts';
import type { OutputDefinitions } from './reachable-types.ts';

/** Sets of options whose texts are kept; templates use one or two. */
const MAX_REMEMBERED = 64;

/** `ctx.output_format`, with or without options. Keeps the text for each set of options. */
export class OutputFormatValue extends Special {
  readonly kindName = 'output format';
  readonly #target: Type;
  readonly #definitions: OutputDefinitions;
  readonly #texts = new Map<string, string>();
  #plain: string | undefined;

  constructor(target: Type, definitions: OutputDefinitions) {
    super();
    this.#target = target;
    this.#definitions = definitions;
  }

  override call(args: CallArguments, work: Work): Value {
    const options = outputFormatOptions(args, work);
    const key = JSON.stringify(options);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = describeOutput(this.#target, this.#definitions, options);
    if (this.#texts.size < MAX_REMEMBERED) this.#texts.set(key, text);
    return text;
  }

  override print(out: PromptOutput): void {
    this.#plain ??= describeOutput(this.#target, this.#definitions, DEFAULT_OUTPUT_FORMAT);
    out.write(this.#plain);
  }
}

/** Reads the arguments of `ctx.output_format(…)`. */
function outputFormatOptions({ positional, named }: CallArguments, work: Work): OutputFormatOptions {
  if (positional.length > 0) throw new TemplateFault('"ctx.output_format" takes named arguments only');
  for (const name of named.keys()) {
    if (!(OUTPUT_FORMAT_OPTIONS as readonly string[]).includes(name)) {
      throw new TemplateFault(
        `"ctx.output_format" has no option "${name}" (it has ${OUTPUT_FORMAT_OPTIONS.join(', ')})`,
      );
    }
  }
  const text = (name: string, fallback: string): string => textOption(named.get(name), fallback, work);
  return {
    prefix: prefixOption(named, work),
    orSplitter: text('or_splitter', DEFAULT_OUTPUT_FORMAT.orSplitter),
    enumValuePrefix: named.has('enum_value_prefix')
      ? text('enum_value_prefix', '')
      : DEFAULT_OUTPUT_FORMAT.enumValuePrefix,
    alwaysHoistEnums: isTrue(named.get('always_hoist_enums'), work),
    hoistClasses: hoistOption(named.get('hoist_classes'), work),
    hoistedClassPrefix: text('hoisted_class_prefix', ''),
    mapStyle: mapStyleOption(named.get('map_style')),
    quoteClassFields: isTrue(named.get('quote_class_fields'), work),
    renderNullAs: text('render_null_as', DEFAULT_OUTPUT_FORMAT.renderNullAs),
  };
}

/** An explicit `none`, or an undefined name such as `null`, leaves the sentence out. */
function prefixOption(named: CallArguments['named'], work: Work): OutputFormatOptions['prefix'] {
  if (!named.has('prefix')) return 'auto';
  const prefix = named.get('prefix');
  return prefix === undefined || prefix === null ? 'none' : { text: plainTextOf(prefix, work) };
}

function textOption(value: Value, fallback: string, work: Work): string {
  return value === undefined || value === null ? fallback : plainTextOf(value, work);
}

function hoistOption(value: Value, work: Work): OutputFormatOptions['hoistClasses'] {
  if (value === undefined || value === null || value === false || value === 'auto') return 'recursive';
  if (value === true) return 'all';
  if (isList(value)) return value.map((name) => plainTextOf(name, work));
  throw new TemplateFault('"hoist_classes" must be true, false, "auto" or a list of class names');
}

function mapStyleOption(value: Value): OutputFormatOptions['mapStyle'] {
  if (value === undefined || value === null) return DEFAULT_OUTPUT_FORMAT.mapStyle;
  if (value === 'angle' || value === 'object') return value;
  throw new TemplateFault('"map_style" must be "angle" or "object"');
}
