import { TemplateFault } from '../template-fault.ts';
import { plainTextOf } from '../values/print-value.ts';
import type { Value } from '../values/value.ts';
import { countOf } from './text-filters.ts';
import { dataOf, writeJson } from './to-json.ts';
import { writeToon } from './write-toon.ts';
import { writeYaml } from './write-yaml.ts';

const DELIMITERS: ReadonlyMap<string, string> = new Map([
  ['comma', ','],
  ['tab', '\t'],
  ['pipe', '|'],
]);

/** `format(type="json"|"yaml"|"toon")`, in letters of any case, also as `format=`: data under the names that the model sees. */
export function formatValue(value: Value, [type, format, indent, delimiter, lengthMarker]: readonly Value[]): string {
  const data = dataOf(value, 'alias');
  switch (plainTextOf(type ?? format).toLowerCase()) {
    case 'json':
      return writeJson(data, 0);
    case 'yaml':
      return writeYaml(data);
    case 'toon':
      return writeToon(data, {
        indent: countOf(indent, 2),
        delimiter: delimiterOf(delimiter),
        lengthMarker: lengthMarker === undefined || lengthMarker === null ? '' : plainTextOf(lengthMarker),
      });
    default:
      throw new TemplateFault('the type is "json", "yaml" or "toon"');
  }
}

function delimiterOf(name: Value): string {
  if (name === undefined || name === null) return ',';
  const delimiter = DELIMITERS.get(plainTextOf(name));
  if (delimiter === undefined) throw new TemplateFault('the delimiter is "comma", "tab" or "pipe"');
  return delimiter;
}
