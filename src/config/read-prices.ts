import { isJsonObject } from '../base/json.ts';
import { err, ok, type Result } from '../base/result.ts';
import { didYouMeanOneOf } from '../base/suggestion.ts';
import { LONGEST_PATTERN, type ModelPrices, type PriceList } from '../schema/price-list.ts';
import { PROVIDER_DESCRIPTIONS, PROVIDERS, type Provider } from '../schema/providers/providers.ts';
import { readYaml, shownValue } from './read-yaml.ts';

/** The keys of an entry. svc ignores the values of the last two, which are notes for people. */
const KEYS = ['provider', 'model', 'input', 'output', 'cached_input', 'date', 'comment'] as const;

/** The providers of models. */
const PRICED = PROVIDERS.filter((name) => PROVIDER_DESCRIPTIONS[name].http !== undefined);

const EXAMPLE = '"{provider: openai, model: gpt-4o*, input: 2.5, output: 10}"';

/**
 * Reads a price file: a list of entries in YAML or JSON, or a map from models to entries. Returns one sentence
 * about the first mistake, with the file and the entry.
 */
export function readPrices(path: string): Result<PriceList, string> {
  const content = readYaml(path);
  return content.ok ? checkPrices(content.value, JSON.stringify(path)) : content;
}

/** Checks the content of such a file. `subject` begins the sentence about a mistake. */
export function checkPrices(content: unknown, subject: string): Result<PriceList, string> {
  const entries = entriesOf(content);
  if (entries === undefined) return err(`${subject} has no list of prices. Write entries such as ${EXAMPLE}.`);
  const list: ModelPrices[] = [];
  const places = new Map<string, string>();
  for (const { place, value } of entries) {
    const entry = readEntry(value);
    if (!entry.ok) return err(`${subject}, ${place}: ${entry.failure}`);
    const { provider = '', pattern } = entry.value;
    const key = `${provider} ${pattern}`;
    const earlier = places.get(key);
    if (earlier !== undefined)
      return err(`${subject}, ${place}: has the provider and the model of ${earlier}. Remove one.`);
    places.set(key, place);
    list.push(entry.value);
  }
  return ok(list);
}

interface PlacedEntry {
  /** `entry 2`, or the key of a map. */
  readonly place: string;
  readonly value: unknown;
}

/** The entries of a file; undefined if it has none. */
function entriesOf(content: unknown): readonly PlacedEntry[] | undefined {
  const entries = Array.isArray(content)
    ? content.map((value: unknown, index) => ({ place: placeOf(index, value), value }))
    : Object.entries(isJsonObject(content) ? content : {}).map(([model, value]) => ({
        place: `entry ${JSON.stringify(model)}`,
        value: isJsonObject(value) && !Object.hasOwn(value, 'model') ? { ...value, model } : value,
      }));
  return entries.length === 0 ? undefined : entries;
}

function placeOf(index: number, value: unknown): string {
  const model = isJsonObject(value) ? value['model'] : undefined;
  return `entry ${index + 1}${typeof model === 'string' ? ` (${JSON.stringify(model)})` : ''}`;
}

function readEntry(value: unknown): Result<ModelPrices, string> {
  if (!isJsonObject(value)) return err(`must be a map. Write ${EXAMPLE}.`);
  const unknown = Object.keys(value).find((key) => !KEYS.some((known) => known === key));
  if (unknown !== undefined)
    return err(`has an unknown key ${JSON.stringify(unknown)}. ${didYouMeanOneOf(unknown, KEYS)}`);
  const fault =
    modelFault(value['model']) ??
    providerFault(value['provider']) ??
    priceFault('input', value['input']) ??
    priceFault('output', value['output']) ??
    (value['cached_input'] === undefined ? undefined : priceFault('cached_input', value['cached_input']));
  if (fault !== undefined) return err(fault);
  // `modelFault` and its like checked the types.
  const { provider, model, input, output, cached_input: cachedInput } = value as unknown as CheckedEntry;
  const prices = { pattern: model, input, output, cached_input: cachedInput };
  return ok(provider === undefined ? prices : { ...prices, provider });
}

interface CheckedEntry {
  readonly provider?: Provider;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cached_input: number | undefined;
}

function modelFault(model: unknown): string | undefined {
  if (typeof model === 'string' && model !== '' && model.length <= LONGEST_PATTERN) return undefined;
  const fault = model === undefined ? 'has no "model"' : '"model" is not a name';
  return `${fault}. Write the name of a model, or a pattern such as "gpt-4o*".`;
}

function providerFault(provider: unknown): string | undefined {
  if (provider === undefined || PRICED.some((each) => each === provider)) return undefined;
  return `has an unknown provider ${shownValue(provider)}. ${didYouMeanOneOf(typeof provider === 'string' ? provider : '', PRICED)}`;
}

function priceFault(key: string, price: unknown): string | undefined {
  if (typeof price === 'number' && Number.isFinite(price) && price >= 0) return undefined;
  const fault = price === undefined ? `has no "${key}"` : `"${key}" is ${shownValue(price)}`;
  return `${fault}. Write US dollars per million tokens, 0 or more, such as 2.5.`;
}
