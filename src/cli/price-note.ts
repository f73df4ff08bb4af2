import { counted } from '../base/amounts.ts';
import { matchesWildcard } from '../base/wildcard.ts';
import type { Config } from '../config/config.ts';
import type { ClientType } from '../schema/client.ts';
import { clientNames, type Program } from '../schema/program.ts';
import type { ModelPrices } from '../schema/price-list.ts';
import { providerNamed, type Provider } from '../schema/providers/providers.ts';

/** A sentence about the prices that match no model. A misspelt model would otherwise show only as costs that are missing. */
export interface PriceNote {
  /** `warn`: not one price matches. A list can have prices for other projects, or for the clients of requests. */
  readonly level: 'warn' | 'info';
  readonly text: string;
}

/** The model of a client. Undefined: a variable that is not set names it, so every price of the provider can match. */
interface NamedModel {
  readonly provider: Provider;
  readonly model: string | undefined;
}

/** A longer list of models or prices does not fit on a line. */
const MOST_NAMES = 5;

/** Undefined without a price file, and if each of its prices matches a model. `others`: more clients that a command uses. */
export function priceNote(
  { env, priceList, prices }: Pick<Config, 'env' | 'priceList' | 'prices'>,
  program: Pick<Program, 'clients' | 'functions'>,
  others: readonly string[] = [],
): PriceNote | undefined {
  if (priceList === undefined || prices === undefined) return undefined;
  const names = [...clientNames(program), ...others];
  const models = [...program.clients.flatMap((client) => modelOf(client, env)), ...names.flatMap(modelOfShorthand)];
  const unmatched = priceList.filter((entry) => !models.some((model) => isPriceOf(entry, model)));
  if (unmatched.length === 0) return undefined;
  const file = JSON.stringify(prices);
  if (unmatched.length < priceList.length) {
    const patterns = listed(unmatched.map(({ pattern }) => pattern));
    const share = `${String(unmatched.length)} of ${counted(priceList.length, 'price')}`;
    return { level: 'info', text: `${share} in ${file} match no model of the definitions: ${patterns}` };
  }
  const known = models.flatMap(({ model }) => model ?? []);
  const inFiles = known.length === 0 ? '' : ` (${listed([...new Set(known)])})`;
  const text = `no price in ${file} matches a model of the definitions${inFiles}, so svc cannot compute what their calls cost`;
  return { level: 'warn', text };
}

function modelOf({ provider, options }: ClientType, env: Config['env']): readonly NamedModel[] {
  const { value } = options.findLast(({ key }) => key === 'model' || key === 'model_id') ?? {};
  if (value?.kind === 'env') return [{ provider, model: env[value.variable] }];
  return value?.kind === 'scalar' && typeof value.value === 'string' ? [{ provider, model: value.value }] : [];
}

/** Of a name such as `openai/gpt-4o`. */
function modelOfShorthand(name: string): readonly NamedModel[] {
  const slash = name.indexOf('/');
  const provider = slash < 0 ? undefined : providerNamed(name.slice(0, slash));
  return provider === undefined ? [] : [{ provider, model: name.slice(slash + 1) }];
}

function isPriceOf(entry: ModelPrices, { provider, model }: NamedModel): boolean {
  if (entry.provider !== undefined && entry.provider !== provider) return false;
  return model === undefined || matchesWildcard(entry.pattern, model);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
