import { suggestionOf } from '../../../base/suggestion.ts';
import { isNumberExpected, meantOption, unsentOptions } from '../../../schema/providers/other-options.ts';
import type { ProviderDescription } from '../../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS } from '../../../schema/providers/providers.ts';
import type { EntryNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build-definitions.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { buildEntry, providerOf, stringOf } from '../node-values.ts';
import { misplacement } from './misplaced-options.ts';

/**
 * An option that svc does not know reaches the provider in the request body, so a misspelt one silently has no effect. The rule reports
 * names that resemble an option, strings where models take numbers, and credentials, which svc does not send this way.
 */
export const otherOptions: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    const provider = providerOf(node);
    const description = provider === undefined ? undefined : PROVIDER_DESCRIPTIONS[provider];
    if (description?.otherOptions !== 'body') continue;
    const entries = optionsOf(node);
    const unsent = unsentOptions(
      description,
      entries.map((entry) => buildEntry(entry)),
      () => undefined,
    );
    for (const entry of entries) {
      if (isNumberExpected(description, entry.key.text)) checkNumber(context, entry);
      else if (!Object.hasOwn(description.options, entry.key.text)) {
        checkOther(context, description, entry, unsent.has(entry.key.text));
      }
    }
  }
};

/** Names of timeouts in other libraries, in lower case and without separators, with the setting of svc. */
const TIMEOUTS: ReadonlyMap<string, string> = new Map([
  ...['timeout', 'timeoutms', 'timeoutseconds', 'requesttimeout', 'requesttimeoutms', 'readtimeout'].map(
    (name) => [name, 'request_timeout_ms'] as const,
  ),
  ...['connecttimeout', 'connecttimeoutms'].map((name) => [name, 'connect_timeout_ms'] as const),
]);

function checkOther(
  { report }: CheckContext,
  description: ProviderDescription,
  entry: EntryNode,
  isUnsent: boolean,
): void {
  const { text: name, span } = entry.key;
  const meant = meantOption(description, name);
  const suggestion = suggestionOf(meant === undefined ? [] : [meant]);
  const timeout = TIMEOUTS.get(name.toLowerCase().replaceAll('_', ''));
  if (isUnsent) report('check/unsent-option', span, { name, suggestion });
  else if (timeout !== undefined && !name.endsWith('_timeout_ms')) {
    const place = `Write \`http { ${timeout} … }\`, in milliseconds.`;
    report('check/misplaced-option', span, { name, effect: 'does not set a timeout', place });
  }
  // The rule about misplaced options reports those.
  else if (meant !== undefined && misplacement(entry) === undefined) {
    report('check/misspelt-option', span, { name, suggestion });
  }
}

/** A longer string is not a misspelt number. */
const LONGEST_QUOTED = 40;

/** The kind of a value that is not a number, in words; undefined for a value that can be one at run time, and for null. */
function otherKind(value: ValueNode | undefined): string | undefined {
  const text = stringOf(value);
  if (text !== undefined) return text.length > LONGEST_QUOTED ? 'a string' : `the string "${text}"`;
  if (value?.kind === 'boolean') return `${value.value}`;
  return value?.kind === 'list' || value?.kind === 'map' ? `a ${value.kind}` : undefined;
}

function checkNumber({ report }: CheckContext, { key, value }: EntryNode): void {
  const kind = otherKind(value);
  if (value === undefined || kind === undefined) return;
  const number = /^-?\d+(?:\.\d+)?$/u.exec(stringOf(value)?.trim() ?? '')?.[0];
  report('check/number-option', value.span, { name: key.text, kind, number });
}
