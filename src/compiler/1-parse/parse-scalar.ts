import type { ValueShape } from './syntax-nodes.ts';
import { UNQUOTED_NUMBER } from './unquoted-value.ts';

const ENVIRONMENT = /^env\.([A-Za-z_]\w*)$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['"', '"'],
  ['\\', '\\'],
]);

/** What a value without quotes stands for: true, false, null, a number, env.NAME, or text. */
export function parseScalar(text: string): ValueShape {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  if (text === 'null') return { kind: 'null' };
  if (UNQUOTED_NUMBER.test(text)) return { kind: 'number', value: Number(text), text };
  const variable = ENVIRONMENT.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'env', variable };
  return { kind: 'string', value: text, quoted: false };
}

/** The text of a quoted string: \n \t \" \\ are replaced, any other backslash stays as it is. */
export function unescapeString(text: string): string {
  return text.replace(/\\(.)/gs, (whole, character: string) => ESCAPES.get(character) ?? whole);
}
