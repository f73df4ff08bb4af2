import type { ClientType, OptionEntry, OptionValue } from '../../schema/client.ts';
import type { OptionTable } from '../../schema/providers/option-shapes.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';

/**
 * The path of the first credential that a definition contains as a literal, such as `headers.x-api-key`; undefined if it
 * contains none. Every header and every query parameter can be one, and so can body members with the name of one.
 */
export function literalCredential({ provider, options }: ClientType): string | undefined {
  const table = PROVIDER_DESCRIPTIONS[provider].options;
  return first(options, ({ key, value }) =>
    literalIn(value, key, holdsCredentials(table, key) ? 'every' : literalsUnder(key)),
  );
}

/** The literals of a value that are credentials: all, those outside maps, or none. Members of a map have their own names. */
type Literals = 'every' | 'direct' | 'none';

function holdsCredentials(table: OptionTable, option: string): boolean {
  if (option === 'headers' || option === 'query_params') return true;
  const description = Object.hasOwn(table, option) ? table[option] : undefined;
  return description?.secret === true || description?.namesAccount === true;
}

/** Matches the last word of the name of a credential; `max_tokens` does not match. */
const CREDENTIAL_NAME =
  /(?:^|[_.-])(?:(?:access|api|auth|private|secret|session)?(?:key|token|secret)|key_id|jwt|bearer|pass|passwd|password|passphrase|pwd|pat|credentials?|auth|authorization|cookie|sas|sig|signature|dsn|connection_string)$/u;

function literalsUnder(name: string): Literals {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, '_').toLowerCase();
  return CREDENTIAL_NAME.test(words) ? 'direct' : 'none';
}

function literalIn(value: OptionValue, path: string, literals: Literals): string | undefined {
  switch (value.kind) {
    case 'env':
      return undefined;
    case 'scalar':
      return literals !== 'none' && typeof value.value === 'string' && value.value !== '' ? path : undefined;
    case 'list':
      return first(value.items, (item, index) => literalIn(item, `${path}[${index}]`, literals));
    case 'map':
      return first(value.entries, ({ key, value: member }: OptionEntry) =>
        literalIn(member, `${path}.${key}`, literals === 'every' ? 'every' : literalsUnder(key)),
      );
  }
}

function first<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
