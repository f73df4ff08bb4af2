import { reply, startFakeProvider } from './fake-provider.ts';
import type { Behaviour, FakeProvider } from './fake-provider.ts';
import { FAULTS, REPLY_TEXT } from './upstream-faults.ts';
import type { LimitName, UpstreamFault } from './upstream-faults.ts';

/** The setups of a function that meets a fault. In each, the first answer is faulty and all others are good. */
export const STRATEGIES = ['Alone', 'Retry', 'Fallback'] as const;

export type Strategy = (typeof STRATEGIES)[number];

export const MODES = ['call', 'stream'] as const;

export type Mode = (typeof MODES)[number];

/** One fault in one setup. */
export interface FaultCell {
  readonly fault: UpstreamFault;
  readonly mode: Mode;
  readonly strategy: Strategy;
}

/** The cells of one row of the page, in its order. */
export function cellsOf(fault: UpstreamFault): readonly FaultCell[] {
  return MODES.flatMap((mode) => STRATEGIES.map((strategy) => ({ fault, mode, strategy })));
}

/** A limit that ends no fault. */
const LONG_LIMIT_MS = 120_000;

/** The result of a cell, with the facts that the page shows. */
export interface CellEnd {
  readonly attempts: number;
  /** Undefined if the call returned the value. */
  readonly failure?: { readonly status: number; readonly upstreamStatus?: number; readonly timer?: string };
}

/** The text of a cell: `value`, `502`, `502 (429)` or `504 idle`, and the number of attempts if there were several. */
export function cellText({ failure, attempts }: CellEnd): string {
  const count = attempts > 1 ? `, ${attempts} attempts` : '';
  if (failure === undefined) return `value${count}`;
  const { status, upstreamStatus, timer } = failure;
  const more = timer ?? (upstreamStatus === undefined ? undefined : `(${upstreamStatus})`);
  return `${status}${more === undefined ? '' : ` ${more}`}${count}`;
}

export function functionName(fault: UpstreamFault, strategy: Strategy): string {
  return `Fault${FAULTS.indexOf(fault)}${strategy}`;
}

/** A provider for each fault, so that faults share no connections, and functions that call these providers. */
export class FaultyProviders {
  readonly #fakes: readonly FakeProvider[];
  readonly #good: FakeProvider;
  readonly #nowhere: string;
  readonly #met = new Set<string>();
  #cells = 0;

  private constructor(fakes: readonly FakeProvider[], good: FakeProvider, nowhere: string) {
    this.#fakes = fakes;
    this.#good = good;
    this.#nowhere = nowhere;
    for (const [index, fault] of FAULTS.entries()) fakes[index]?.answer(this.#onceFaulty(fault));
    good.answer(reply(REPLY_TEXT));
  }

  static async start(): Promise<FaultyProviders> {
    const gone = await startFakeProvider();
    const nowhere = gone.url;
    const fakes = await Promise.all(FAULTS.map(() => startFakeProvider()));
    await gone.close();
    return new FaultyProviders(fakes, await startFakeProvider(), nowhere);
  }

  /** The provider that has this fault. */
  of(fault: UpstreamFault): FakeProvider {
    return this.#fakes[FAULTS.indexOf(fault)] ?? this.#good;
  }

  get openSockets(): number {
    return this.#fakes.reduce((sum, fake) => sum + fake.openSockets, this.#good.openSockets);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#fakes, this.#good].map((fake) => fake.close()));
  }

  /** A unique argument for a function: it shows whether an answer is the first one to this call. */
  nextCell(): string {
    this.#cells += 1;
    return `cell-${this.#cells};`;
  }

  /** The definitions. Their keys come from the variables `KEY`, `HEADER_KEY` and `QUERY_KEY`. */
  definitions(): string {
    const parts = FAULTS.map((fault, index) => {
      const options = this.#options(fault, `${this.#origin(fault)}/v1`);
      const first = `provider openai-generic\n  ${options}`;
      return [
        client(`Alone${index}`, first),
        client(`Retry${index}`, `retry_policy Once\n  ${first}`),
        client(`Fallback${index}`, `provider fallback\n  options {\n    strategy [Alone${index}, Good]\n  }`),
        ...STRATEGIES.map((strategy) => aFunction(functionName(fault, strategy), `${strategy}${index}`)),
      ].join('\n');
    });
    const good = `provider openai-generic\n  options {\n    model good\n    base_url "${this.#good.url}/v1"\n  }`;
    return [POLICY, client('Good', good), ...parts].join('\n');
  }

  /** The body of a request that brings its own keys, in a client that replaces the defined one. */
  registryOf(fault: UpstreamFault, keys: Keys): object {
    const options = {
      model: 'faulty',
      base_url: `${this.#origin(fault)}/v1`,
      api_key: keys.KEY,
      headers: { 'x-other-key': keys.HEADER_KEY },
      query_params: { key: keys.QUERY_KEY },
      http: limitsOf(fault),
    };
    return { clients: [{ name: `Alone${FAULTS.indexOf(fault)}`, provider: 'openai-generic', options }] };
  }

  #origin(fault: UpstreamFault): string {
    const { url } = this.of(fault);
    if (fault.leads === undefined) return url;
    return fault.leads === 'nowhere' ? this.#nowhere : url.replace('http:', 'https:');
  }

  #options(fault: UpstreamFault, url: string): string {
    const limits = Object.entries(limitsOf(fault)).map(([name, ms]) => `      ${name} ${ms}`);
    return `options {
    model faulty
    base_url "${url}"
    api_key env.KEY
    headers {
      x-other-key env.HEADER_KEY
    }
    query_params {
      key env.QUERY_KEY
    }
    http {
${limits.join('\n')}
    }
  }`;
  }

  #onceFaulty(fault: UpstreamFault): Behaviour {
    return (request, wire) => {
      const cell = /cell-\d+;/u.exec(request.body)?.[0] ?? '';
      const met = this.#met.has(cell);
      this.#met.add(cell);
      if (met) return reply(REPLY_TEXT)(request, wire);
      const streamed = (request.json as { readonly stream?: unknown }).stream === true;
      return (streamed ? fault.stream : fault.call)(request, wire);
    };
  }
}

/** The keys of a client, which the definitions read from variables. */
export interface Keys {
  readonly KEY: string;
  readonly HEADER_KEY: string;
  readonly QUERY_KEY: string;
}

function limitsOf(fault: UpstreamFault): Readonly<Record<string, number>> {
  const limit = (name: LimitName): number => fault.limits?.[name] ?? LONG_LIMIT_MS;
  return {
    connect_timeout_ms: limit('connect'),
    time_to_first_token_timeout_ms: limit('first_token'),
    idle_timeout_ms: limit('idle'),
    request_timeout_ms: limit('request'),
  };
}

/** The limit that ended a cell, in milliseconds. */
export function limitThatEnded({ limits }: UpstreamFault, { failure }: CellEnd): number {
  const limit = limits?.[failure?.timer as LimitName];
  if (limit === undefined) throw new Error(`ended by ${failure?.timer ?? 'no timer'}`);
  return limit;
}

const POLICY = 'retry_policy Once {\n  max_retries 1\n  strategy {\n    type constant_delay\n    delay_ms 5\n  }\n}';

function client(name: string, body: string): string {
  return `client<llm> ${name} {\n  ${body}\n}`;
}

function aFunction(name: string, clientName: string): string {
  return `function ${name}(cell: string) -> string {\n  client ${clientName}\n  prompt #"{{ cell }}"#\n}`;
}
