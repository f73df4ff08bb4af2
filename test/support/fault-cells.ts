import { turn, type AnswerWire, type Behaviour, type Wire } from './fake-wire.ts';
import { reply, startFakeProvider, type FakeProvider } from './fake-provider.ts';
import { REPLY_TEXT, type FaultBehaviour, type FaultGroup, type LimitName, type UpstreamFault } from './fault-steps.ts';
import { HTTP1_FAULTS } from './http1-faults.ts';
import { HTTP2_FAULTS, type Http2Fault, type Http2FaultGroup } from './http2-faults.ts';
import { waitUntil } from './load.ts';
import { TlsProvider } from './tls-provider.ts';
import { COMMON_FAULTS } from './upstream-faults.ts';

/** The versions of HTTP over which providers have the faults of the page. */
export type HttpVersion = '1.1' | '2';

const HTTP1_GROUPS: ReadonlyArray<FaultGroup<Wire>> = [...COMMON_FAULTS, HTTP1_FAULTS];

const HTTP2_GROUPS: readonly Http2FaultGroup[] = [...COMMON_FAULTS, ...HTTP2_FAULTS];

/** The faults over each version, in the order of the page. */
export const FAULT_GROUPS: Readonly<
  Record<HttpVersion, readonly { readonly title: string; readonly faults: readonly UpstreamFault[] }[]>
> = { '1.1': HTTP1_GROUPS, '2': HTTP2_GROUPS };

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

/** A provider and its fault. */
interface FaultyProvider {
  readonly fault: UpstreamFault;
  readonly provider: FakeProvider<AnswerWire>;
  /** Makes the next call need a new connection. */
  readonly arm?: () => void;
}

/** A provider for each fault over one version of HTTP, so that faults share no connections, and functions that call these providers. */
export class FaultyProviders {
  /** In the order of the page. */
  readonly faults: readonly UpstreamFault[];
  readonly #version: HttpVersion;
  readonly #providers: readonly FaultyProvider[];
  readonly #good: FakeProvider<AnswerWire>;
  #cells = 0;

  private constructor(version: HttpVersion, providers: readonly FaultyProvider[], good: FakeProvider<AnswerWire>) {
    this.#version = version;
    this.faults = providers.map(({ fault }) => fault);
    this.#providers = providers;
    this.#good = good;
    good.answer(reply(REPLY_TEXT));
  }

  static async start(version: HttpVersion): Promise<FaultyProviders> {
    const providers =
      version === '1.1'
        ? await Promise.all(HTTP1_GROUPS.flatMap(({ faults }) => faults.map(overHttp1)))
        : await Promise.all(HTTP2_GROUPS.flatMap(({ faults }) => faults.map(overHttp2)));
    const good = version === '1.1' ? await startFakeProvider() : await TlsProvider.start();
    return new FaultyProviders(version, providers, good);
  }

  /** The provider that has this fault. */
  of(fault: UpstreamFault): FakeProvider<AnswerWire> {
    return this.#providers[this.faults.indexOf(fault)]?.provider ?? this.#good;
  }

  get openSockets(): number {
    return this.#providers.reduce((sum, { provider }) => sum + provider.openSockets, this.#good.openSockets);
  }

  get traffic(): number {
    return this.#providers.reduce((sum, { provider }) => sum + provider.traffic, this.#good.traffic);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#providers.map(({ provider }) => provider), this.#good].map((fake) => fake.close()));
  }

  /**
   * Begins a cell. The argument for its function, which is unique, shows the provider whether a request is the first one of
   * the cell.
   */
  async begin(fault: UpstreamFault): Promise<string> {
    // If svc runs in this process, a reset inside the callback in which svc reads from the connection would be lost.
    await turn();
    this.#providers[this.faults.indexOf(fault)]?.arm?.();
    this.#cells += 1;
    return `cell-${this.#cells};`;
  }

  /** Plays cells of a fault. Over HTTP/2, calls at the same time share a connection, and a fault of that connection ends all of them. */
  async play<T>(
    fault: UpstreamFault,
    cells: readonly FaultCell[],
    playOne: (cell: FaultCell) => Promise<T>,
  ): Promise<readonly T[]> {
    if (this.#version === '1.1' && fault.floods !== true) return Promise.all(cells.map(playOne));
    const ends: T[] = [];
    for (const cell of cells) {
      await waitUntil('the end of the last fault', () => this.of(fault).unanswered === 0);
      ends.push(await playOne(cell));
    }
    return ends;
  }

  functionName(fault: UpstreamFault, strategy: Strategy): string {
    return `Fault${this.faults.indexOf(fault)}${strategy}`;
  }

  /** The definitions. Their keys come from the variables `KEY`, `HEADER_KEY` and `QUERY_KEY`. */
  definitions(): string {
    const parts = this.faults.map((fault, index) => {
      const options = this.#options(fault, `${this.#origin(fault)}/v1`);
      const first = `provider openai-generic\n  ${options}`;
      return [
        client(`Alone${index}`, first),
        client(`Retry${index}`, `retry_policy Once\n  ${first}`),
        client(`Fallback${index}`, `provider fallback\n  options {\n    strategy [Alone${index}, Good]\n  }`),
        ...STRATEGIES.map((strategy) => aFunction(this.functionName(fault, strategy), `${strategy}${index}`)),
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
    return { clients: [{ name: `Alone${this.faults.indexOf(fault)}`, provider: 'openai-generic', options }] };
  }

  #origin(fault: UpstreamFault): string {
    const { url } = this.of(fault);
    if (fault.leads === undefined) return url;
    // A port that was free a moment ago can belong to another test by now; no test listens on this one.
    return fault.leads === 'nowhere' ? url.replace(/:\d+$/u, ':1') : url.replace('http:', 'https:');
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
}

async function overHttp1(fault: FaultBehaviour<Wire>): Promise<FaultyProvider> {
  const { certificate } = fault;
  if (certificate !== undefined) {
    return { fault, provider: await TlsProvider.start({ certificate, speaks: ['http/1.1'] }) };
  }
  const provider = await startFakeProvider();
  provider.answer(onceFaulty(fault));
  return { fault, provider };
}

async function overHttp2(fault: Http2Fault): Promise<FaultyProvider> {
  // A handshake with a server that expects no TLS never ends.
  if (fault.leads !== undefined) return { fault, provider: await startFakeProvider() };
  const provider = await TlsProvider.start(fault);
  provider.answer(onceFaulty(fault));
  const arm = (): void => {
    provider.resetConnections();
    if (fault.greeting !== undefined) provider.greet(fault.greeting);
  };
  return fault.onNewConnection === true ? { fault, provider, arm } : { fault, provider };
}

/** The fault for the first request of each cell (or the first ones), and then good answers. */
function onceFaulty<W extends AnswerWire>(fault: FaultBehaviour<W>): Behaviour<W> {
  const met = new Map<string, number>();
  return (request, wire) => {
    const cell = /cell-\d+;/u.exec(request.body)?.[0] ?? '';
    const before = met.get(cell) ?? 0;
    met.set(cell, before + 1);
    if (before >= (fault.times ?? 1)) return reply(REPLY_TEXT)(request, wire);
    const streamed = (request.json as { readonly stream?: unknown }).stream === true;
    return (streamed ? fault.stream : fault.call)(request, wire);
  };
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
export function limitThatEnded({ name, limits }: UpstreamFault, end: CellEnd): number {
  const limit = limits?.[end.failure?.timer as LimitName];
  if (limit === undefined) throw new Error(`"${name}" ended with ${cellText(end)}`);
  return limit;
}

const POLICY = 'retry_policy Once {\n  max_retries 1\n  strategy {\n    type constant_delay\n    delay_ms 5\n  }\n}';

function client(name: string, body: string): string {
  return `client<llm> ${name} {\n  ${body}\n}`;
}

function aFunction(name: string, clientName: string): string {
  return `function ${name}(cell: string) -> string {\n  client ${clientName}\n  prompt #"{{ cell }}"#\n}`;
}
