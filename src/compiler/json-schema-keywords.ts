import { didYouMean } from '../base/suggestion.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that do not constrain the values. */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  'title description default examples $comment deprecated readOnly writeOnly'.split(' '),
);

/** Keywords that only a whole schema can have. */
const OF_ROOT: ReadonlySet<string> = new Set(['$schema', '$id', '$defs', 'definitions']);

/** The keywords beside `type`, by type. */
export const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: [],
  integer: [],
  number: [],
  boolean: [],
  null: [],
  array: ['items'],
  object: ['properties', 'required', 'additionalProperties'],
};

/** The types of the language for types without parts. */
export const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'null',
};

/** Returns the keywords of a schema that are not in `allowed` and constrain its values. */
export function keywordFaults(
  schema: Schema,
  allowed: readonly string[],
): ReadonlyArray<{ readonly key: string; readonly message: string }> {
  return Object.keys(schema)
    .filter((key) => !allowed.includes(key) && !ANNOTATIONS.has(key))
    .map((key) => {
      if (OF_ROOT.has(key)) return { key, message: 'is allowed only at the top of a schema' };
      const near = didYouMean(key, allowed);
      return { key, message: `is not supported here; allowed: ${allowed.join(', ')}${near === '' ? '' : `. ${near}`}` };
    });
}
