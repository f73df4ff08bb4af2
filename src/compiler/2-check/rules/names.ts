import { PRIMITIVES } from '../../../schema/type.ts';
import { KIND_WORDS } from '../scope.ts';
import { isOptionsKey } from '../../../base/json.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import type { FieldNode, NameNode } from '../../1-parse/syntax-nodes.ts';

/** Names of types in the languages of clients, which no definition can have. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'String',
  'Int',
  'Float',
  'Boolean',
  'Bytes',
  'BigInt',
  'Json',
  'BamlClient',
]);

/** Reserved words of the languages of generated clients, which cannot be names of fields there. */
const FIELD_NAMES = new Set(
  (
    'Self and any assert async audio await bigint bool box break catch chan class const continue debugger defer do dyn ' +
    'else enum export extends extern false finally float for function global go goto image implements import in ' +
    'instanceof int lambda let macro module move mut new nil nonlocal not null or package pdf private protected pub ' +
    'public ref return select self set static string struct super switch this throw trait true try typeof unsafe ' +
    'unsized use var video virtual void while with yield env'
  ).split(' '),
);

/** Names of types and fields are not reserved words, of definitions or of the languages of clients. */
export const reservedNames: Rule = ({ scope, report }) => {
  for (const node of scope.declarations) {
    const { text, span } = node.name;
    const isType = node.kind === 'class' || node.kind === 'enum' || node.kind === 'alias' || node.kind === 'function';
    if (isType && TYPE_NAMES.has(text)) report('check/reserved-type-name', span, { name: text });
    if (node.kind !== 'class') continue;
    for (const { name, type } of node.fields.filter(isReserved)) {
      const isSwapped = PRIMITIVE_NAMES.has(name.text) && type?.kind === 'name' && !scope.hasType(type.name);
      const swapped = isSwapped && !PRIMITIVE_NAMES.has(type.name) ? type.name : undefined;
      report('check/reserved-field-name', name.span, { name: name.text, env: name.text === 'env', swapped });
    }
  }
};

/** Only the fields of a request's JSON Schemas are in no generated client. */
function isReserved({ name, ofSchema }: FieldNode): boolean {
  return ofSchema !== true && FIELD_NAMES.has(name.text);
}

const PRIMITIVE_NAMES: ReadonlySet<string> = new Set(PRIMITIVES);

const CAPITALIZED = new Set(['class', 'enum', 'alias', 'function', 'client', 'template_string']);

/**
 * Types, functions, clients, template strings and enum values begin with a capital letter, which distinguishes them
 * from fields.
 */
export const capitalizedNames: Rule = (context) => {
  for (const node of context.scope.declarations) {
    if (CAPITALIZED.has(node.kind)) checkName(context, node.name, KIND_WORDS[node.kind]);
    if (node.kind === 'enum') for (const value of node.values) checkName(context, value.name, 'an enum value');
  }
};

function checkName({ report }: CheckContext, { text, span }: NameNode, what: string): void {
  if (!/^[a-z]/.test(text)) return;
  const better = text.charAt(0).toUpperCase() + text.slice(1);
  report('check/lowercase-name', span, { name: text, what, better });
}

/** Variables that every prompt can read. */
const BUILT_INS = new Set(['ctx', '_']);

/** A parameter hides no other key of the request and no built-in variable of the prompt. */
export const parameterNames: Rule = ({ scope, report }) => {
  for (const node of scope.functions.values()) {
    for (const { name } of node.parameters) {
      if (isOptionsKey(name.text)) report('check/reserved-parameter-name', name.span, { name: name.text });
      if (BUILT_INS.has(name.text)) report('check/shadowing-parameter', name.span, { name: name.text });
    }
  }
};
