import type { ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build/build-client.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/** In quotes, with `$`, or with a fallback, which the language does not have: `env.HOST ?? "localhost"`. */
const QUOTED_VARIABLE = /^(?:\$\{?(?:env\.\w+|[A-Z_]\w*)\}?|(?:process\.)?env\.[A-Z]\w*(?:[ \t]*(?:\?\?|\|\|).*)?)$/;
/** The formats of keys that providers issue. */
const SECRET = /^(?:sk-[\w-]{16,}|AIza[\w-]{30,}|gsk_\w{20,}|xai-\w{20,})$/;

/** Options refer to environment variables without quotes, and contain no secrets: those belong in the environment. */
export const environmentVariables: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    for (const entry of optionsOf(node)) if (entry.value !== undefined) checkValue(context, entry.value);
  }
};

function checkValue(context: CheckContext, value: ValueNode): void {
  if (value.kind === 'list') for (const item of value.items) checkValue(context, item);
  if (value.kind === 'map') {
    for (const entry of value.entries) if (entry.value !== undefined) checkValue(context, entry.value);
  }
  if (value.kind !== 'string') return;
  if (QUOTED_VARIABLE.test(value.value)) context.report('check/env-in-quotes', value.span, { name: value.value });
  if (SECRET.test(value.value)) context.report('check/key-in-file', value.span, {});
}
