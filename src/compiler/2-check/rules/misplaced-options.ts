import { HTTP_SETTINGS } from '../../../schema/providers/common-options.ts';
import { providerNamed, PROVIDER_DESCRIPTIONS } from '../../../schema/providers/providers.ts';
import type { EntryNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build-definitions.ts';
import type { Rule } from '../check-context.ts';
import { providerOf, stringOf } from '../node-values.ts';

/**
 * Keys of a client belong beside `options`, and timeouts belong in its `http`. Elsewhere the provider would receive them in
 * the request body, and they would have no effect on svc. Keys that a provider of svc can read there, such as `provider`
 * with a map for OpenRouter, are not mistakes.
 */
export const misplacedOptions: Rule = ({ scope, report }) => {
  for (const node of scope.clients.values()) {
    const provider = providerOf(node);
    const known = provider === undefined ? {} : PROVIDER_DESCRIPTIONS[provider].options;
    for (const entry of optionsOf(node)) {
      const mistake = Object.hasOwn(known, entry.key.text) ? undefined : misplacement(entry);
      if (mistake !== undefined) report('check/misplaced-option', entry.key.span, { name: entry.key.text, ...mistake });
    }
  }
};

interface Misplacement {
  readonly effect: string;
  readonly place: string;
}

/** Returns the effect of an option and the place where it belongs, or undefined if it is not one of those keys. */
export function misplacement({ key: { text }, value }: EntryNode): Misplacement | undefined {
  if (text === 'retry_policy') {
    const name = stringOf(value) ?? 'Name';
    return { effect: 'does not enable retries', place: `Write \`retry_policy ${name}\` beside \`provider\`.` };
  }
  if (text === 'provider' && providerNamed(stringOf(value) ?? '') !== undefined) {
    return { effect: 'does not select the provider', place: 'Write it beside `options`.' };
  }
  if (text === 'strategy' && value?.kind === 'list') {
    const place = 'Only a client with `provider fallback` or `provider round-robin` has a strategy.';
    return { effect: 'has no effect', place };
  }
  if (!text.endsWith('_timeout_ms') || !Object.hasOwn(HTTP_SETTINGS, text)) return undefined;
  return { effect: 'does not set a timeout', place: `Write \`http { ${text} … }\`.` };
}
