import { type JsonValue, OPTIONS_KEYS } from '../../../src/base/json.ts';
import type { FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { PROVIDER_DESCRIPTIONS, PROVIDERS } from '../../../src/schema/providers/providers.ts';
import { testRuntime } from '../../../test/support/test-runtime.ts';
import type { Random } from '../../recover/random.ts';
import { broken, pollution, type Outcome, type Target } from '../target.ts';

const DEFINITIONS = `
client<llm> Offline {
  provider offline
}
client<llm> Remote {
  provider openai
  options {
    model m
    base_url env.URL
    api_key env.KEY
  }
}
client<llm> Either {
  provider fallback
  options { strategy [Remote, Offline] }
}
function F(s: string) -> string {
  client Either
  prompt #"{{ s }} {{ ctx.tags }}"#
}
`;

const ENV = { URL: 'https://models.example/v1', KEY: 'sk-canary-of-the-server' };

/** From the strictest server to the one that accepts most: an option that one accepts, the next one accepts too. */
const REGISTRIES = ['off', 'known', 'open'] as const;

/**
 * Failures that svc reports for options; any other is a bug. `client_error`: a variable of the request is a URL that the client
 * of a definition file cannot use.
 */
const CODES: ReadonlySet<string> = new Set([
  'invalid_options',
  'missing_credential',
  'invalid_argument',
  'client_error',
]);

/** A refusal lists a hundred faults, and that there are more. */
const MAX_DETAILS = 101;

/** Steps for the smallest options, on three servers, and for each of their characters. */
const LEAST_STEPS = 60_000;
const STEPS_PER_CHARACTER = 400;

export function optionsTarget(): Target {
  const runtimes = REGISTRIES.map((clientRegistry) =>
    testRuntime(DEFINITIONS, ENV, { clientRegistry, allowPrivateUrls: false }),
  );
  return {
    name: 'options',
    covers: ['/src/runtime/call/', '/src/runtime/model/', '/src/schema/providers/', '/src/base/'],
    dictionary: [...KEYS, ...TEXTS],
    seeds: PROVIDERS.map((provider) =>
      registryOf({ name: 'A', provider, options: { model: 'm', base_url: TEXTS[0] ?? '' } }),
    ),
    generate,
    free: true,
    check: (options) => check(runtimes, options),
    maxSteps: (options) => LEAST_STEPS + STEPS_PER_CHARACTER * JSON.stringify(options).length,
    close: async () => {
      for (const runtime of runtimes) await runtime.close();
    },
  };
}

const KEYS = [
  ...(
    'client_registry~env~client~tags~include~on_loss~primary~fallback~clients~name~provider~options~' +
    'retry_policy~strategy~start~__proto__~constructor~prototype~toString~'
  ).split('~'),
  ...new Set(Object.values(PROVIDER_DESCRIPTIONS).flatMap((description) => Object.keys(description.options))),
];

const TEXTS = [
  ...(
    'https://models.example/v1~http://127.0.0.1:1~http://[::1]/~http://169.254.169.254/~file:///etc/passwd~' +
    'http://user:secret@host/?key=1#x~//x~Remote~Offline~Either~A~openai/gpt~offline/x~ollama/l~env.KEY~' +
    'KEY~URL~HTTP_PROXY~warnings~refuse~accept~a\r\nb: c~\u0000~\ud800~1e999'
  ).split('~'),
  ...PROVIDERS,
];

function registryOf(...clients: readonly JsonValue[]): JsonValue {
  return { client_registry: { primary: 'A', clients } };
}

function generate(random: Random): JsonValue {
  const value = (depth: number): JsonValue => {
    const kind = random.int(0, depth > 0 ? 6 : 4);
    if (kind <= 1) return random.pick(TEXTS);
    if (kind === 2) return random.pick([0, 1, -1, 1.5, 1e21, 2 ** 53]);
    if (kind <= 4) return random.pick([true, false, null, '']);
    if (kind === 5) return Array.from({ length: random.int(0, 3) }, () => value(depth - 1));
    return object(random.int(0, 4), depth);
  };
  const object = (size: number, depth: number): JsonValue =>
    Object.fromEntries(Array.from({ length: size }, () => [random.pick(KEYS), value(depth - 1)]));
  const client = (): JsonValue => ({
    name: random.pick(['A', 'B', 'Remote']),
    provider: random.pick(PROVIDERS),
    options: object(random.int(0, 6), 3),
  });
  if (random.chance(0.2)) return object(3, 4);
  const registry = { client_registry: { primary: random.pick(TEXTS), clients: [client(), client()] } };
  return random.chance(0.5) ? registry : { ...registry, env: object(2, 1), tags: object(2, 1) };
}

function check(runtimes: readonly FunctionRuntime[], options: JsonValue): Outcome {
  const before = JSON.stringify(options);
  const refused: boolean[] = [];
  for (const [at, runtime] of runtimes.entries()) {
    const prepared = runtime.prepare('F', { s: 'a', [OPTIONS_KEYS[0]]: options }, { local: false });
    refused.push(!prepared.ok);
    const rendered = prepared.ok ? runtime.render(prepared.value) : prepared;
    if (rendered.ok) continue;
    const { failure } = rendered;
    const text = JSON.stringify(failure);
    if (!CODES.has(failure.code)) return broken(`a failure of code ${failure.code} (${REGISTRIES[at]})`, text);
    if (text.includes(ENV.KEY)) return broken('a failure contains a key of the server', text);
    const details = 'details' in failure ? failure.details : [];
    if (details.length > MAX_DETAILS) return broken('a refusal lists too many faults', String(details.length));
    if (details.some(({ message }) => message === '')) return broken('a fault without a message', text);
  }
  if (refused.join() !== refused.toSorted((a, b) => Number(b) - Number(a)).join()) {
    return broken('a stricter server accepts what a more open one refuses', refused.join());
  }
  if (JSON.stringify(options) !== before) return broken('the options are changed', before);
  return pollution() ?? {};
}
