import type { Rule } from '../check-context.ts';

const TYPE_NAMES = new Set(['String', 'Int', 'Float', 'Boolean', 'Bytes', 'BigInt', 'Json', 'BamlClient']);

/** Words of the languages that generated clients are written in; a field of that name could not be generated. */
const FIELD_NAMES = new Set(
  (
    'Self and any assert async audio await bigint bool box break catch chan class const continue debugger defer do dyn ' +
    'else enum export extends extern false finally float for function global go goto image implements import in ' +
    'instanceof int lambda let macro module move mut new nil nonlocal not null or package pdf private protected pub ' +
    'public ref return select self set static string struct super switch this throw trait true try typeof unsafe ' +
    'unsized use var video virtual void while with yield env'
  ).split(' '),
);

/** Some names mean something else already: in definitions themselves, or in the languages that use them. */
export const reservedNames: Rule = ({ scope, report }) => {
  for (const node of scope.declarations) {
    const { text, span } = node.name;
    const isType = node.kind === 'class' || node.kind === 'enum' || node.kind === 'alias' || node.kind === 'function';
    if (isType && TYPE_NAMES.has(text)) report('check/reserved-type-name', span, { name: text });
    if (node.kind !== 'class') continue;
    for (const { name } of node.fields.filter((field) => FIELD_NAMES.has(field.name.text))) {
      report('check/reserved-field-name', name.span, { name: name.text, env: name.text === 'env' });
    }
  }
};
