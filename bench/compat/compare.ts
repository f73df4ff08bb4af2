import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { checkSources } from '../../src/compiler/compile.ts';
import { readSources } from '../../src/compiler/read-sources.ts';
import { peerCommand } from '../sides.ts';
import { COMPAT_SIDES, LOST, type Answer } from './ask.ts';
import type { Call, Project } from './projects.ts';
import type { RecordingProvider } from './recording-provider.ts';
import { ServedProject, type Answers } from './served-project.ts';

export type ComparisonKind = 'verdict' | 'prompt' | 'answer' | 'stream';

/** One result of both sides. */
export interface Comparison {
  readonly kind: ComparisonKind;
  /** `project`, or `project/Function/2.3` for a call. */
  readonly at: string;
  readonly equal: boolean;
  readonly svc: string;
  readonly baml: string;
}

/** Compares the verdicts on a project; if both sides accept it, serves it and compares all calls. */
export async function compareProject(project: Project, provider: RecordingProvider): Promise<readonly Comparison[]> {
  const verdict = await compareVerdict(project);
  if (!verdict.equal || project.calls.length === 0) return [verdict];
  const servers = COMPAT_SIDES.map((side) => new ServedProject(side, project, provider));
  try {
    const faults = await Promise.all(servers.map((server) => startFault(server)));
    if (faults.some((fault) => fault !== undefined)) {
      const [svc = ACCEPTED, baml = ACCEPTED] = faults;
      return [{ ...verdict, equal: false, svc, baml }];
    }
    return [verdict, ...(await compareCalls(project.calls, servers))];
  } finally {
    await Promise.all(servers.map((server) => server.end()));
  }
}

async function compareCalls(calls: readonly Call[], servers: readonly ServedProject[]): Promise<readonly Comparison[]> {
  const [svc = [], baml = []] = await Promise.all(servers.map((server) => server.askAll(calls)));
  return calls.flatMap((call, at) => compareAnswers(call, svc[at], baml[at]));
}

/** Starts a server. Returns the reason if it does not start. */
async function startFault(server: ServedProject): Promise<string | undefined> {
  try {
    await server.start();
    return undefined;
  } catch (error) {
    return `does not start: ${String(error)}`;
  }
}

// --- verdicts -------------------------------------------------------------------------------------------------------

const ACCEPTED = 'accepts';

/** A project with calls differs even if both sides refuse it, because it would compare nothing. */
async function compareVerdict({ name, definitions, calls }: Project): Promise<Comparison> {
  const [svc, baml] = [verdictOfSvc(definitions), await verdictOfPeer(definitions)];
  const equal = calls.length > 0 ? svc === ACCEPTED && baml === ACCEPTED : kindOf(svc) === kindOf(baml);
  return { kind: 'verdict', at: name, equal, svc, baml };
}

function kindOf(verdict: string): string | undefined {
  return verdict.split(':')[0];
}

/** Does what `svc check` does, without a process for each of hundreds of definition files. */
function verdictOfSvc(definitions: string): string {
  const sources = readSources(definitions);
  if (!sources.ok) return `refuses: ${sources.failure}`;
  const options = { version: '0.1.0', versionCheck: true, beta: false, apiKey: false };
  const { diagnostics } = checkSources(sources.value.files, options);
  const error = diagnostics.find(({ severity }) => severity === 'error');
  return error === undefined ? ACCEPTED : `refuses: ${error.message}`;
}

/** BAML exits with 1 for warnings too; its errors begin with `error: `. */
async function verdictOfPeer(definitions: string): Promise<string> {
  const { program, args } = peerCommand(['check', '--from', basename(definitions)]);
  const child = spawn(program, args, {
    cwd: dirname(definitions),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, BAML_LOG: 'off', NO_COLOR: '1' },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const error = /^error.*/m.exec(output)?.[0];
  if (code === 0 || (code === 1 && error === undefined)) return ACCEPTED;
  return code === 1 ? `refuses: ${error}` : `crashes: exit ${code}`;
}

// --- calls ----------------------------------------------------------------------------------------------------------

const NOTHING_SENT = 'no request to the model';
/** How much is shown of a differing prompt (characters before the first difference, and from there on) and of a refusal. */
const CONTEXT_LENGTH = 60;
const EXCERPT_LENGTH = 200;

function compareAnswers(call: Call, svc: Answers | undefined, baml: Answers | undefined): readonly Comparison[] {
  if (svc === undefined || baml === undefined) throw new Error(`${call.id}: not asked`);
  const compare = (kind: ComparisonKind, ours: Answer, theirs: Answer): Comparison => ({
    kind,
    at: call.id,
    equal: ours.outcome === theirs.outcome && ours.outcome !== LOST,
    svc: inFull(ours),
    baml: inFull(theirs),
  });
  return [
    comparePrompts(call, svc, baml),
    compare('answer', svc.call, baml.call),
    compare('stream', svc.stream, baml.stream),
  ];
}

function inFull({ outcome, detail }: Answer): string {
  return detail === undefined ? outcome : `${outcome}: ${detail.trim().slice(0, EXCERPT_LENGTH)}`;
}

/** A call that reaches the model from neither side differs, because it compares nothing, unless both refuse its arguments. */
function comparePrompts({ id }: Call, svc: Answers, baml: Answers): Comparison {
  const [ours, theirs] = differingParts(joined(svc), joined(baml));
  const shown = svc.prompts.length > 0 || svc.call.outcome === '4xx';
  return {
    kind: 'prompt',
    at: id,
    equal: shown && ours === theirs,
    svc: ours || NOTHING_SENT,
    baml: theirs || NOTHING_SENT,
  };
}

/** Joins the prompts in a fixed order, because BAML's round-robin clients start with a random member. */
function joined({ prompts }: Answers): string {
  return prompts.toSorted().join('\n');
}

/** Returns both texts from shortly before the first difference; empty strings if there is none. */
function differingParts(a: string, b: string): readonly [string, string] {
  if (a === b) return ['', ''];
  let at = 0;
  while (a[at] === b[at]) at += 1;
  const begin = Math.max(0, at - CONTEXT_LENGTH);
  return [a.slice(begin, at + EXCERPT_LENGTH), b.slice(begin, at + EXCERPT_LENGTH)];
}
