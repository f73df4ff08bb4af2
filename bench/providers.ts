// Entry file: CPU time of this process for one call and one stream through each provider, and the number of connections
// that 1,000 calls open, 32 at a time. Prompt, arguments and parsing are the same for all: the difference from `openai` is
// the cost of a provider's own code. Each round measures all providers in turn, and the median of the rounds counts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { loadFunctions, type FunctionLibrary } from '../src/index.ts';
import { answer } from './answers.ts';
import { end, startWithPort } from './child-process.ts';
import { median } from './load.ts';
import { number, table } from './report.ts';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '5' } },
});
const CALLS = Number(values.calls);
const ROUNDS = Number(values.rounds);
const CONCURRENCY = 32;
const { value: EXPECTED } = answer('Small');

/** For each provider, the protocol of the fake's answers, and the options that a client needs besides its model. */
const CLIENTS: Readonly<Record<string, readonly [path: string, ...options: readonly string[]]>> = {
  openai: ['chat', 'api_key "k"'],
  'openai-generic': ['chat'],
  'openai-responses': ['responses', 'api_key "k"'],
  'azure-openai': ['chat', 'api_key "k"'],
  ollama: ['chat'],
  openrouter: ['chat', 'api_key "k"'],
  anthropic: ['anthropic', 'api_key "k"'],
  'google-ai': ['google', 'api_key "k"'],
  'vertex-ai': ['google', 'headers {\n      authorization "Bearer k"\n    }'],
  'aws-bedrock': ['bedrock', 'region "r"', 'access_key_id "AK"', 'secret_access_key "SK"'],
};

const PROVIDERS = Object.keys(CLIENTS);

function definitions(url: string): string {
  const clients = Object.entries(CLIENTS).map(([provider, [path, ...options]]) => {
    const lines = ['model "m"', `base_url "${url}/${path}"`, ...options].map((line) => `    ${line}\n`).join('');
    return `client<llm> ${nameOf(provider)} {\n  provider ${provider}\n  options {\n${lines}  }\n}\n`;
  });
  return `${clients.join('')}${FUNCTION}`;
}

const FUNCTION = `class Contact {
  name string
  email string
  topic string
  urgent bool
  summary string
}
function Extract(text: string) -> Contact {
  client Openai
  prompt #"
    {{ _.role("system") }}
    You read letters.
    {{ _.role("user") }}
    {{ text }}
    {{ ctx.output_format }}
  "#
}
`;

function nameOf(provider: string): string {
  return provider.replaceAll('-', '').replace(/^./u, (first) => first.toUpperCase());
}

type Kind = 'call' | 'stream';

async function ask(functions: FunctionLibrary, provider: string, kind: Kind): Promise<unknown> {
  const args = { text: 'Ada Lovelace, ada@example.com, asks for a copy of the notes on the machines.' };
  const settings = { client: nameOf(provider) };
  if (kind === 'call') return functions.call('Extract', args, settings);
  for await (const event of functions.stream('Extract', args, settings)) {
    if (event.type === 'final') return event.value;
  }
  throw new Error('the stream ended without a final value');
}

/** Sends this number of requests, some at a time; returns the microseconds of CPU of each. */
async function measure(functions: FunctionLibrary, provider: string, kind: Kind): Promise<number> {
  let left = CALLS;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask(functions, provider, kind);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

async function check(functions: FunctionLibrary): Promise<void> {
  for (const provider of PROVIDERS) {
    for (const kind of ['call', 'stream'] as const) {
      const value = await ask(functions, provider, kind);
      if (!isDeepStrictEqual(value, EXPECTED)) throw new Error(`${provider} ${kind}: ${JSON.stringify(value)}`);
    }
  }
}

async function run(functions: FunctionLibrary, url: string): Promise<void> {
  await check(functions);
  const costs = new Map<string, number[]>();
  let opened = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Each round begins with another provider: the first one also pays for the garbage of the last round.
    for (const provider of [...PROVIDERS.slice(round), ...PROVIDERS.slice(0, round)]) {
      for (const kind of ['call', 'stream'] as const) {
        const cost = await measure(functions, provider, kind);
        // The first round warms up.
        if (round > 0) costs.set(`${provider} ${kind}`, [...(costs.get(`${provider} ${kind}`) ?? []), cost]);
      }
    }
    opened = Number(await (await fetch(`${url}/connections`)).text());
  }
  print(costs, opened);
}

function print(costs: ReadonlyMap<string, readonly number[]>, opened: number): void {
  const middle = (key: string): number => median(costs.get(key) ?? []);
  const rows = PROVIDERS.map((provider) => {
    const [call, stream] = [middle(`${provider} call`), middle(`${provider} stream`)];
    const ratios = [call / middle('openai call'), stream / middle('openai stream')];
    return [provider, number(call), number(stream), ...ratios.map((ratio) => ratio.toFixed(2))];
  });
  const head = ['provider', 'call µs', 'stream µs', 'call / openai', 'stream / openai'];
  console.log(table([head, ...rows]));
  const asked = CALLS * PROVIDERS.length * 2 * (ROUNDS + 1);
  console.log(`\n${asked} calls and streams, ${CONCURRENCY} at a time, opened ${opened} connections to one origin`);
}

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const fake = await startWithPort({
  program: process.execPath,
  args: [new URL('fake-providers.js', import.meta.url).pathname],
});
const url = `http://127.0.0.1:${fake.port}`;
writeFileSync(join(folder, 'main.svc'), definitions(url));
const functions = loadFunctions({ from: folder, env: {} });
try {
  await run(functions, url);
} finally {
  await functions.close();
  await end(fake.child);
  rmSync(folder, { recursive: true });
}
