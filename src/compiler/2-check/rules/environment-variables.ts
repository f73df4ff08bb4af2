import type { Span } from '../../../diagnostics/span.ts';
import type { ValueNode } from '../../1-parse/syntax-nodes.ts';
import { isCredentialName, isGeneratedCredential, isKey } from '../../../base/credentials.ts';
import { optionsOf } from '../build-definitions.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { stringOf } from '../node-values.ts';

/** In quotes, in braces, with `$`, or with a fallback, which the language does not have: `env.HOST ?? "localhost"`. */
const QUOTED_VARIABLE =
  /^(?:\$\{?(?:env\.\w+|[A-Z_]\w*)\}?|\$?\{\{?\s*(?:process\.)?env\.\w+\s*\}?\}|(?:process\.)?env\.[A-Z]\w*(?:[ \t]*(?:\?\?|\|\|).*)?)$/;
/** The same inside a longer string, only in forms that are hardly ever meant literally. */
const VARIABLE_INSIDE = /\$?\{\{?\s*(?:process\.)?env\.\w+\s*\}?\}|(?<=^Bearer )(?:env\.\w+|\$\{?[A-Z_]\w*\}?)$/;
/** The name alone, as the value of a credential. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** The name in one of these forms. */
const NAME = /^(?:.*?\benv\.|\W*)(\w+)/s;

/** Options refer to environment variables without quotes, and contain no secrets: those belong in the environment. */
export const environmentVariables: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    for (const entry of optionsOf(node))
      if (entry.value !== undefined) checkValue(context, entry.value, entry.key.text);
  }
};

/** `name`: of the option, or of the member of a map. */
function checkValue(context: CheckContext, value: ValueNode, name: string): void {
  if (value.kind === 'list') for (const item of value.items) checkValue(context, item, name);
  if (value.kind === 'map') {
    for (const entry of value.entries) if (entry.value !== undefined) checkValue(context, entry.value, entry.key.text);
  }
  const text = stringOf(value);
  if (text === undefined) return;
  const isVariable = reportVariable(context, text, value.span, name);
  if (!isVariable && (isKey(text) || isGeneratedCredential(name, text)))
    context.report('check/key-in-file', value.span, {});
}

/** Reports a variable in quotes. Returns true if it reports one. */
function reportVariable({ report }: CheckContext, text: string, span: Span, option: string): boolean {
  const isWhole = QUOTED_VARIABLE.test(text) || (isCredentialName(option) && VARIABLE_NAME.test(text));
  const name = isWhole ? text : VARIABLE_INSIDE.exec(text)?.[0];
  if (name === undefined) return false;
  report('check/env-in-quotes', span, { name, variable: NAME.exec(name)?.[1] ?? 'NAME', isPart: !isWhole });
  return true;
}
