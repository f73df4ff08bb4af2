import { appendFileSync, closeSync, existsSync, openSync } from 'node:fs';
import { counted } from '../../base/amounts.ts';
import { messageOf } from '../../base/invariant.ts';
import { isJsonObject, isOptionsKey, type JsonValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CallDatabase } from '../../calls/call-database.ts';
import { callFilter } from '../../calls/call-filter.ts';
import { openCalls } from '../../calls/open-calls.ts';
import { compile } from '../../compiler/compile.ts';
import type { Config } from '../../config/config.ts';
import { age } from '../../config/settings.ts';
import type { DataRow } from '../../dev/testing/data/data-rows.ts';
import { callRecord, exportedCall, exportHead } from '../../dev/testing/export-calls.ts';
import { Recordings } from '../../dev/testing/recordings.ts';
import { saveTest } from '../../dev/testing/save-test.ts';
import { Redactor } from '../../logging/redactor.ts';
import {
  FILTER_NAMES,
  rightValue,
  type CallFilter,
  type KeptCall,
  type ListedCall,
  type SavedTest,
} from '../../schema/kept-call.ts';
import type { CallsOptions } from '../command-options.ts';
import { compileOptions, readDefinitions } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { refuse, reportProblem, thereIsNo, type ExitCode, type Terminal } from '../terminal.ts';

/** `svc calls ACTION [ID]`: see docs/calls.md. */
export async function callsCommand(invocation: Invocation): Promise<ExitCode> {
  const { config, paths, terminal } = invocation;
  const [action = '', id] = paths;
  const run = ACTIONS[action];
  if (run === undefined)
    return refuse(terminal, `there is no "svc calls ${action}". Use list, show, save, export or prune.`);
  const needsId = action === 'show' || action === 'save';
  if (needsId && id === undefined)
    return refuse(terminal, `"svc calls ${action}" needs the id of a call: its x-request-id.`);
  if (!needsId && id !== undefined) return refuse(terminal, `"svc calls ${action}" takes no id.`);
  const opened = await open(config, action === 'prune');
  if (!opened.ok) return reportProblem(terminal, new Redactor(config.secrets).redact(opened.failure));
  try {
    return await run(opened.value, invocation, id ?? '');
  } catch (error) {
    return reportProblem(terminal, `the database of calls does not work: ${messageOf(error)}.`);
  } finally {
    await opened.value.close();
  }
}

type Action = (calls: CallDatabase, invocation: Invocation, id: string) => Promise<ExitCode>;

const ACTIONS: Readonly<Record<string, Action>> = { list, show, save, export: exportCalls, prune };

async function open({ calls: address }: Config, writes: boolean): Promise<Result<CallDatabase, string>> {
  if (address === 'off') return err('name the database of the calls with --calls.');
  if (address.kind === 'sqlite' && !existsSync(address.path)) {
    return err(`"${address.path}" does not exist: "svc dev", and "svc serve" with --calls, keep calls.`);
  }
  try {
    return ok(await openCalls(address, { readOnly: !writes }));
  } catch (error) {
    return err(`the database of calls cannot be opened: ${messageOf(error)}.`);
  }
}

/** What `--data` begins with if the rows are kept calls. */
export const CALLS_SOURCE = 'calls:';

const LISTED = 50;

async function list(calls: CallDatabase, { options, terminal }: Invocation): Promise<ExitCode> {
  const filter = filterOf(options);
  if (!filter.ok) return refuse(terminal, filter.failure);
  const most = (options as unknown as CallsOptions).limit ?? LISTED;
  const rows: string[][] = [['TIME', 'ID', 'FUNCTION', 'OUTCOME', 'MS', 'CLIENT', 'TOKENS', 'COST']];
  for await (const call of matching(calls, filter.value)) {
    if (rows.length > most) break;
    rows.push(listRow(call));
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    terminal.out.write(
      `${row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  return 0;
}

function listRow(call: ListedCall): string[] {
  const { at, client, cost, error, functionName, inputTokens, lossy, ms, outputTokens, requestId } = call;
  const tokens = inputTokens === null && outputTokens === null ? '' : `${inputTokens ?? '?'}+${outputTokens ?? '?'}`;
  const outcome = error ?? (lossy ? 'ok, lossy' : 'ok');
  const time = new Date(at).toISOString();
  return [
    time,
    requestId,
    functionName,
    outcome,
    String(Math.round(ms)),
    client ?? '',
    tokens,
    cost === null ? '' : `$${cost}`,
  ];
}

async function show(calls: CallDatabase, { terminal }: Invocation, id: string): Promise<ExitCode> {
  const call = await newest(calls, id);
  if (call === undefined) return reportProblem(terminal, noCall(id));
  terminal.out.write(`${JSON.stringify(callRecord(call), undefined, 2)}\n`);
  return 0;
}

async function save(calls: CallDatabase, { config, options, terminal }: Invocation, id: string): Promise<ExitCode> {
  const { name, recordings = 'recordings' } = options as unknown as CallsOptions;
  if (name === undefined) return refuse(terminal, '"svc calls save" needs the name of the test: add --name NAME.');
  const call = await newest(calls, id);
  if (call === undefined) return reportProblem(terminal, noCall(id));
  const saved = saveInto(config, recordings, call, name);
  if (!saved.ok) return reportProblem(terminal, saved.failure);
  reportSaved(terminal, saved.value);
  return 0;
}

/** Writes a test from a call into the definitions that the configuration names. The failure is a sentence. */
export function saveInto(config: Config, recordings: string, call: KeptCall, name: string): Result<SavedTest, string> {
  const sources = readDefinitions(config);
  if (!sources.ok) return sources;
  const redactor = new Redactor(config.secrets);
  return saveTest(call, name, {
    files: sources.value.files,
    compile: (files) => compile(files, compileOptions(config)),
    recordings: new Recordings(recordings, (text) => redactor.redactValues(text)),
  });
}

function reportSaved({ out, error }: Terminal, { test, path, recording }: SavedTest): void {
  out.write(`${test}\n`);
  error.write(`svc: added the test to ${JSON.stringify(path)}\n`);
  if (recording !== null)
    error.write(`svc: wrote the reply to ${JSON.stringify(recording)}; "svc test --replay" reads it\n`);
}

async function exportCalls(calls: CallDatabase, { options, terminal }: Invocation): Promise<ExitCode> {
  const { format = 'jsonl', limit = Infinity, out } = options as unknown as CallsOptions;
  const filter = filterOf(options);
  if (!filter.ok) return refuse(terminal, filter.failure);
  if (out !== undefined && existsSync(out)) return refuse(terminal, `"${out}" exists: choose another file.`);
  const file = out === undefined ? undefined : openSync(out, 'wx', 0o600);
  const write = (text: string): void => (file === undefined ? terminal.out.write(text) : appendFileSync(file, text));
  let written = 0;
  let without = 0;
  write(exportHead(format));
  for await (const { seq } of matching(calls, filter.value)) {
    if (written >= limit) break;
    const call = await calls.call(seq);
    const text = call === undefined ? undefined : exportedCall(call, format);
    if (text === undefined) without += 1;
    else {
      write(text);
      written += 1;
    }
  }
  if (file !== undefined) closeSync(file);
  const left =
    without === 0 ? '' : `; ${counted(without, 'other call')} without a value, a prompt or the text of a file`;
  terminal.error.write(`svc: exported ${counted(written, 'call')}${left}\n`);
  return 0;
}

async function prune(calls: CallDatabase, { config, terminal }: Invocation): Promise<ExitCode> {
  const { callsMaxAgeMs: maxAgeMs, callsMaxSizeBytes: maxSize } = config;
  const deleted = await calls.prune({ maxAgeMs, maxSize }, Date.now());
  terminal.error.write(`svc: deleted ${counted(deleted, 'call')}\n`);
  return 0;
}

async function* matching(calls: CallDatabase, filter: CallFilter): AsyncGenerator<ListedCall> {
  let before: number | undefined;
  do {
    const page = await calls.page(filter, { ...(before !== undefined && { before }), limit: 500 });
    yield* page.calls;
    before = page.next ?? undefined;
  } while (before !== undefined);
}

/** The most calls that `svc test --data calls:` runs, unless its query has a limit. */
const DATA_ROWS = 1_000;

const DATA_FILTERS: readonly string[] = [...FILTER_NAMES, 'since', 'until'];

/**
 * Returns the rows of `svc test --data calls:QUERY`: the newest kept calls of a function that fit the query, such as `feedback=any&since=7d`.
 * The value that feedback calls right is the expected one. `copy`: the members of an export that reports contain. The failure is a sentence.
 */
export async function callRows(
  config: Config,
  {
    functionName,
    source,
    copy,
  }: { readonly functionName: string; readonly source: string; readonly copy: readonly string[] },
): Promise<Result<readonly DataRow[], string>> {
  const query = new URLSearchParams(source.slice(CALLS_SOURCE.length));
  const limit = Number(query.get('limit') ?? DATA_ROWS);
  for (const name of ['since', 'until']) {
    const before = age(query.get(name) ?? '');
    if (before.ok) query.set(name, String(Date.now() - before.value));
  }
  query.delete('limit');
  query.set('function', functionName);
  const unknown = [...query.keys()].find((name) => !DATA_FILTERS.includes(name));
  if (unknown !== undefined) return err(`"${source}": ${thereIsNo('filter', unknown, DATA_FILTERS)}`);
  const filter = callFilter(query);
  if (!filter.ok || !Number.isInteger(limit))
    return err(`"${source}": ${filter.ok ? '"limit" must be a number.' : filter.failure}`);
  const opened = await open(config, false);
  if (!opened.ok) return opened;
  const calls = opened.value;
  try {
    const rows = new Map<string, DataRow>();
    for await (const { seq } of matching(calls, filter.value)) {
      if (rows.size >= limit) break;
      const call = await calls.call(seq);
      const row = call === undefined ? undefined : callRowOf(call, copy);
      if (row !== undefined) rows.set(`${row.id}${rows.has(row.id) ? `-${seq}` : ''}`, row);
    }
    if (rows.size === 0) return err(`"${source}" has no calls of ${functionName} with arguments`);
    return ok([...rows].map(([id, row]) => ({ ...row, id })));
  } finally {
    await calls.close();
  }
}

/** Undefined if the arguments are not kept. */
function callRowOf(call: KeptCall, copy: readonly string[]): DataRow | undefined {
  const args = call.content?.args;
  if (!isJsonObject(args)) return undefined;
  const right = rightValue(call);
  const facts = callRecord(call);
  return {
    id: call.requestId,
    args: Object.fromEntries(Object.entries(args).filter(([key]) => !isOptionsKey(key))),
    expected: right === undefined ? [] : [{ path: [], value: right, similar: false }],
    columns: Object.fromEntries(copy.map((name) => [name, (facts[name] ?? null) as JsonValue])),
  };
}

async function newest(calls: CallDatabase, requestId: string): Promise<KeptCall | undefined> {
  for await (const { seq } of matching(calls, { requestId })) return calls.call(seq);
  return undefined;
}

function noCall(id: string): string {
  return `no call with the id "${id}" is kept. "svc calls list" shows those that are.`;
}

/** Reads the options that select calls. */
function filterOf(options: Invocation['options']): Result<CallFilter, string> {
  const { since, until, ...others } = options as unknown as CallsOptions;
  const query = new URLSearchParams();
  for (const name of ['function', 'client', 'key', 'error', 'tag', 'text', 'feedback'] as const) {
    const value = others[name];
    if (value !== undefined) query.set(name, value);
  }
  if (others.lossy === true) query.set('lossy', '1');
  if (others.slow !== undefined) query.set('slow', String(others.slow));
  const now = Date.now();
  if (since !== undefined) query.set('since', String(now - since));
  if (until !== undefined) query.set('until', String(now - until));
  return callFilter(query);
}
