import { OUTPUT_FORMAT_OPTIONS } from '../../../schema/template-vocabulary.ts';
import { TemplateFault } from '../template-fault.ts';
import { plainTextOf } from '../values/print-value.ts';
import { type CallArguments, isList, isTrue, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';

/** Options of the description of the expected output. */
export interface OutputFormatOptions {
  /** The sentence before the type: chosen by the kind of type, or this one. */
  readonly prefix: 'auto' | { readonly text: string };
  readonly orSplitter: string;
  readonly enumValuePrefix: string;
  readonly alwaysHoistEnums: boolean;
  /** Classes that are defined before the type, besides the recursive ones. */
  readonly hoistClasses: 'recursive' | 'all' | readonly string[];
  /** Word before the name of a hoisted class; empty for none. */
  readonly hoistedClassPrefix: string;
  readonly mapStyle: 'angle' | 'object';
  readonly quoteClassFields: boolean;
  readonly renderNullAs: string;
}

export const DEFAULT_OUTPUT_FORMAT: OutputFormatOptions = {
  prefix: 'auto',
  orSplitter: ' or ',
  enumValuePrefix: '- ',
  alwaysHoistEnums: false,
  hoistClasses: 'recursive',
  hoistedClassPrefix: '',
  mapStyle: 'angle',
  quoteClassFields: false,
  renderNullAs: 'null',
};

/** Reads the arguments of `ctx.output_format(…)`. */
export function outputFormatOptions({ positional, named }: CallArguments, work: Work): OutputFormatOptions {
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
    // An explicit `none`, or an undefined name such as `null`, leaves the sentence out.
    prefix: named.has('prefix') ? { text: text('prefix', '') } : 'auto',
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
