// Entry file: replays recorded exchanges of real providers through the built server and compares what svc reads with
// what each exchange says. Recorded replies are sent whole; streams are sent event by event, then in pieces of 1 to 23 bytes.
//
// Usage: npm run captures -- <folder of *.jsonl> [--show] [--json <file>] [--only <id or family>] [--seed <number>]
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { awsEventFrame } from '../test/support/aws-event-frame.ts';
import { end, freePort, start, untilReady } from './child-process.ts';
import { optionsOf } from './compat/registries.ts';
import { Random } from './recover/random.ts';
import { ROOT } from './sides.ts';

/** A line of `captures/*.jsonl`. `frames` are the messages of an AWS stream, without lengths and checksums. */
interface Capture {
  readonly id: string;
  readonly family: string;
  readonly service: string;
  readonly stream: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly frames?: readonly (readonly [headers: readonly (readonly [string, string])[], payload: string])[];
  readonly truth: Truth;
}

/** The facts that an exchange states, read independently of svc. */
interface Truth {
  readonly text?: string;
  readonly final_text?: string;
  readonly reasoning?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly finish?: string;
  readonly refusal?: string;
  readonly blocked?: string;
  readonly model?: string;
  readonly error?: { readonly type: string; readonly message: string };
  readonly tools?: number;
  readonly tool_input?: unknown;
  readonly json?: boolean;
  readonly no_answer?: string;
}

type Members = Readonly<Record<string, unknown>>;

/** What svc made of an exchange. */
interface Answer {
  readonly status: number;
  /** The body of a call, or the last message of a stream. */
  readonly body: Members;
  readonly value: unknown;
  readonly partials: readonly unknown[];
}

/** The way in which a body is sent: `pieces` have 1 to 23 bytes. */
type Cut = 'whole' | 'events' | 'pieces';

interface Reading {
  readonly id: string;
  readonly family: string;
  readonly service: string;
  /** A sentence for each member that svc reads in another way. */
  readonly faults: readonly string[];
}

const DEFINITIONS = `
type AnyJson = string | int | float | bool | null | AnyJson[] | map<string, AnyJson>

client<llm> Unused {
  provider openai
  options {
    model "unused"
    base_url "http://127.0.0.1:9"
    api_key "captures-unused-key"
  }
}

function SayText() -> string {
  client Unused
  prompt #"Say it."#
}

function SayJson() -> AnyJson {
  client Unused
  prompt #"Say it. {{ ctx.output_format }}"#
}

function CallTool() -> map<string, AnyJson> {
  client Unused
  prompt #"Say it. {{ ctx.output_format }}"#
}

// Bedrock takes no recursive schema.
function CallFlatTool() -> map<string, string | int | float | bool> {
  client Unused
  prompt #"Say it. {{ ctx.output_format }}"#
}
`;

/** Requests at the same time. */
const CONCURRENCY = 8;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      show: { type: 'boolean' },
      json: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [folder] = positionals;
  if (folder === undefined) {
    console.error(
      'usage: npm run captures -- <folder> [--show] [--json <file>] [--only <id or family>] [--seed <number>]',
    );
    return 2;
  }
  const { only, seed } = values;
  const captures = capturesIn(folder).filter(
    ({ id, family, service }) => only === undefined || [id, family, service].includes(only),
  );
  const readings = await replayAll(captures, Number(seed));
  if (values.show === true)
    for (const { id, family, service, faults } of readings)
      for (const fault of faults) console.log(`${id} ${family} ${service}: ${fault}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(readings, undefined, 1)}\n`);
  console.log(tableOf(readings));
  console.log(`${readings.filter(isRight).length} of ${readings.length} exchanges read as recorded (seed ${seed})`);
  return 0;
}

function capturesIn(folder: string): readonly Capture[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.toSorted().flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Capture),
  );
}

function isRight({ faults }: Reading): boolean {
  return faults.length === 0;
}

function tableOf(readings: readonly Reading[]): string {
  const nameOf = ({ family, service }: Reading): string => `${family} | ${service}`;
  const rows = [...new Set(readings.map(nameOf))].map((name) => {
    const own = readings.filter((each) => nameOf(each) === name);
    return `| ${name} | ${own.length} | ${own.filter(isRight).length} |`;
  });
  return ['| provider | service | exchanges | as recorded |', '|---|---|---|---|', ...rows].join('\n');
}

// --- the replay --------------------------------------------------------------------------------------------------------

async function replayAll(captures: readonly Capture[], seed: number): Promise<readonly Reading[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-captures-'));
  const provider = await startProvider(captures, seed);
  mkdirSync(join(folder, 'baml_src'));
  writeFileSync(join(folder, 'baml_src/main.baml'), DEFINITIONS);
  const port = String(await freePort());
  const child = start({
    program: process.execPath,
    args: [join(ROOT, 'dist/bin/svc.js'), 'serve', '--port', port, '--workers', '2', '--expose-prompts'],
    cwd: folder,
    env: { SVC_TRUST_LOOPBACK: 'true', AWS_EC2_METADATA_DISABLED: 'true' },
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(child, `${url}/_debug/ping`);
    const readings: Reading[] = [];
    const waiting = [...captures.entries()];
    const readNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, capture] = next;
        readings[at] = await replay(capture, url, provider.url);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, readNext));
    return readings;
  } finally {
    await end(child);
    provider.server.close();
    provider.server.closeAllConnections();
    rmSync(folder, { recursive: true });
  }
}

async function replay(capture: Capture, url: string, provider: string): Promise<Reading> {
  const { id, family, service, stream, truth } = capture;
  const faults = new Set<string>();
  const tool = family === 'aws-bedrock' ? 'CallFlatTool' : 'CallTool';
  const names = [
    'SayText',
    ...(truth.json === true ? ['SayJson'] : []),
    ...(truth.tool_input === undefined ? [] : [tool]),
  ];
  for (const cut of stream ? (['events', 'pieces'] as const) : (['whole'] as const)) {
    for (const name of names) {
      const registry = registryOf(capture, `${provider}/${cut}/${id}`, name === tool);
      const options = { client_registry: registry, include: INCLUDED };
      const answer = await ask(`${url}/${stream ? 'stream' : 'call'}/${name}`, options, stream);
      const found =
        name === 'SayText'
          ? faultsOf(capture, answer)
          : name === 'SayJson'
            ? jsonFaults(truth, answer)
            : toolFaults(truth, answer);
      for (const fault of found) faults.add(fault);
    }
  }
  return { id, family, service, faults: [...faults] };
}

const INCLUDED = ['usage', 'client', 'attempts', 'raw', 'reasoning'];

/** Returns a client of the exchange's provider whose server is at `url`. */
function registryOf({ family }: Capture, url: string, structured: boolean): Members {
  const options = {
    ...optionsOf(family, url),
    ...(structured ? { structured_output: 'on' } : {}),
    // svc sends schemas only to models that can be forced to call a tool.
    ...(structured && family === 'aws-bedrock' ? { model: 'anthropic.claude-sonnet-4-5' } : {}),
  };
  return { primary: 'Recorded', clients: [{ name: 'Recorded', provider: family, options }] };
}

async function ask(url: string, options: Members, stream: boolean): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ svc_options: options }),
  });
  const text = await response.text();
  if (!stream || response.headers.get('content-type')?.includes('event-stream') !== true) {
    const body = JSON.parse(text) as Members;
    return { status: response.status, body, value: body['result'], partials: [] };
  }
  const messages = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Members);
  const partials = messages.filter((each) => 'partial_result' in each).map((each) => each['partial_result']);
  const body = messages.at(-1) ?? {};
  return { status: 'final_result' in body ? 200 : 500, body, value: body['final_result'], partials };
}

// --- the comparison ----------------------------------------------------------------------------------------------------

function faultsOf(capture: Capture, answer: Answer): readonly string[] {
  const { truth } = capture;
  if (truth.error !== undefined) return errorFaults(capture, answer);
  if (truth.no_answer !== undefined) return noAnswerFaults(truth, answer);
  const faults: string[] = [];
  const want = truth.final_text ?? truth.text ?? '';
  if (answer.status !== 200) return [`status ${answer.status} ${show(answer.body)}, but it has the text ${show(want)}`];
  if (answer.value !== want) faults.push(`text ${show(answer.value)}, not ${show(want)}`);
  if (!answer.partials.every((each) => typeof each === 'string' && want.startsWith(each)))
    faults.push('a partial that is no beginning of the text');
  return [...faults, ...metaFaults(truth, answer)];
}

/** Compares the reasoning, the counts and the finish reason of a reply. */
function metaFaults(truth: Truth, { body }: Answer): readonly string[] {
  const meta = (body['meta'] ?? {}) as Members;
  const faults: string[] = [];
  const usage = (meta['usage'] ?? {}) as Readonly<Record<string, number>>;
  for (const [name, count] of Object.entries(truth.usage ?? {}))
    if ((usage[name] ?? 0) !== count) faults.push(`${name} ${usage[name] ?? 'absent'}, not ${count}`);
  const reasoning = (meta['reasoning'] ?? '') as string;
  // Comments on the work count as reasoning.
  const comments = truth.final_text === undefined ? '' : (truth.text ?? '').slice(0, -truth.final_text.length);
  const thoughts = `${truth.reasoning ?? ''}${comments}`;
  if (reasoning.trim() !== thoughts.trim()) faults.push(`reasoning ${show(reasoning)}, not ${show(thoughts)}`);
  if ((truth.final_text ?? truth.text ?? '') !== (meta['raw'] ?? ''))
    faults.push(`raw ${firstDifference(meta['raw'], truth.final_text ?? truth.text)}`);
  const { finish_reason: finish } = (meta['client'] ?? {}) as Members;
  if (finish !== truth.finish) faults.push(`finish reason ${show(finish)}, not ${show(truth.finish)}`);
  return faults;
}

function errorFaults({ truth, status }: Capture, { status: answered, body }: Answer): readonly string[] {
  if (answered === 200) return [`status 200, but it has the error ${show(truth.error)}`];
  const faults: string[] = [];
  const message = String(body['message']);
  const words = truth.error?.message ?? '';
  if (!message.includes(words.slice(0, MAX_WORDS))) faults.push(`message ${show(message)} without ${show(words)}`);
  if (status !== 200 && body['upstream_status'] !== status)
    faults.push(`upstream status ${show(body['upstream_status'])}, not ${status}`);
  return faults;
}

/** svc cuts the words of providers in its messages. */
const MAX_WORDS = 1500;

const NO_ANSWER_CODES: ReadonlySet<unknown> = new Set(['refusal', 'content_filtered', 'no_answer']);

function noAnswerFaults(truth: Truth, { status, value, body }: Answer): readonly string[] {
  if (status === 200) return [`${show(value)} with status 200, but it has no answer: ${truth.no_answer}`];
  if (!NO_ANSWER_CODES.has(body['error'])) return [`the error ${show(body['error'])} for ${truth.no_answer}`];
  return [];
}

function jsonFaults({ text = '' }: Truth, { value }: Answer): readonly string[] {
  return isDeepStrictEqual(value, JSON.parse(text)) ? [] : [`JSON ${show(value)}, not ${show(text)}`];
}

function toolFaults({ tool_input: input }: Truth, { body, value }: Answer): readonly string[] {
  return isDeepStrictEqual(value, input) ? [] : [`tool input ${show(value ?? body)}, not ${show(input)}`];
}

/** The texts around the first character in which two differ. */
function firstDifference(text: unknown, wanted = ''): string {
  const got = String(text);
  let at = 0;
  while (at < got.length && got[at] === wanted[at]) at += 1;
  const from = Math.max(0, at - 20);
  return `${show(got.slice(from, at + 60))}, not ${show(wanted.slice(from, at + 60))}`;
}

const MAX_SHOWN = 200;

function show(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}…` : json;
}

// --- the provider ------------------------------------------------------------------------------------------------------

/** Starts a server that answers `/<cut>/<id>/…` with the recorded exchange. */
async function startProvider(
  captures: readonly Capture[],
  seed: number,
): Promise<{ readonly server: Server; readonly url: string }> {
  const byId = new Map(captures.map((capture) => [capture.id, capture]));
  const server = createServer((request, response) => {
    request.resume();
    const [, cut, id = ''] = new URL(request.url ?? '/', 'http://localhost').pathname.split('/');
    const capture = byId.get(id);
    if (capture === undefined) response.writeHead(404).end();
    else void send(capture, cut as Cut, response, seed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function send(capture: Capture, cut: Cut, response: ServerResponse, seed: number): Promise<void> {
  response.writeHead(capture.status, capture.headers);
  for (const part of partsOf(capture, cut, seed)) {
    response.write(part);
    // Each part becomes a packet, and so a read, of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

function partsOf({ body = '', frames }: Capture, cut: Cut, seed: number): readonly Buffer[] {
  const events =
    frames?.map(([headers, payload]) => awsEventFrame(Object.fromEntries(headers), payload)) ??
    body.split(/(?<=\n\r?\n)/u).map((event) => Buffer.from(event));
  if (cut === 'events') return events;
  const whole = Buffer.concat(events);
  if (cut === 'whole') return [whole];
  const pieces: Buffer[] = [];
  const random = new Random(String(seed));
  for (let at = 0; at < whole.length;) {
    const length = random.int(1, 23);
    pieces.push(whole.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

process.exitCode = await main();
