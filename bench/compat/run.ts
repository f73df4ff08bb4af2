// Entry file: compares svc with BAML over fresh projects, case projects and single definition files: the verdict of `check`, the prompt
// that reaches the model, the answer of `/call` and the final value of `/stream`.
//
// Usage: npm run compat -- [--only <project>] [--update]
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingSide, ROOT } from '../sides.ts';
import { compareProject, type Comparison } from './compare.ts';
import { explain, updateDifferences } from './differences.ts';
import { makeFreshProjects } from './fresh-projects.ts';
import { readProjects, VERDICTS, type Project } from './projects.ts';
import { startRecordingProvider } from './recording-provider.ts';
import { printReport, saveReport } from './report.ts';

const FOLDER = join(ROOT, 'bench/compat');
const DIFFERENCES = join(FOLDER, 'differences.yaml');
/** The number of projects compared at a time: failed streams of BAML take 15 s, during which others use the processor. */
const LANES = 10;

const { values } = parseArgs({ options: { only: { type: 'string' }, update: { type: 'boolean', default: false } } });
const missing = missingSide('svc') ?? missingSide('baml');
if (missing === undefined) process.exitCode = await main(values.only, values.update);
else {
  console.error(missing);
  process.exitCode = 1;
}

async function main(only: string | undefined, update: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-compat-'));
  try {
    const isInScope = (at: string): boolean => only === undefined || at === only || at.startsWith(`${only}/`);
    const all = [
      ...(await makeFreshProjects(folder)),
      ...readProjects(join(FOLDER, 'projects')),
      ...verdictProjects(folder),
    ];
    const projects = all.filter((project) => isInScope(project.name));
    const comparisons = await compareAll(projects);
    const explained = explain(DIFFERENCES, comparisons, isInScope);
    printReport(projects, comparisons, explained);
    if (update) updateDifferences(DIFFERENCES, explained);
    else if (only === undefined) saveReport(comparisons, explained);
    const unexplained = explained.differences.filter((each) => each.reason === undefined);
    return projects.length === 0 || unexplained.length + explained.outdated.length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes a project without calls of each single definition file; BAML reads only folders with the name `baml_src`. */
function verdictProjects(folder: string): readonly Project[] {
  const source = join(FOLDER, VERDICTS);
  return readdirSync(source)
    .filter((file) => file.endsWith('.baml'))
    .map((file) => {
      const name = `${VERDICTS}/${basename(file, '.baml')}`;
      const definitions = join(folder, name, 'baml_src');
      mkdirSync(definitions, { recursive: true });
      cpSync(join(source, file), join(definitions, file));
      return { name, definitions, calls: [] };
    });
}

async function compareAll(projects: readonly Project[]): Promise<readonly Comparison[]> {
  const provider = await startRecordingProvider();
  const results: (readonly Comparison[])[] = [];
  const waiting = projects.entries();
  const lane = async (): Promise<void> => {
    for (const [index, project] of waiting) results[index] = await compareProject(project, provider);
  };
  try {
    await Promise.all(Array.from({ length: LANES }, lane));
  } finally {
    provider.end();
  }
  return results.flat();
}
