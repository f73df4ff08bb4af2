// Entry file: the time that the language server needs after a keystroke, with 1, 100 and 1,000 definition files: to check the program
// and to list its problems, and to answer a completion, the first hover after the change, and a rename. In CPU time of one process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { completionsAt } from '../src/dev/lsp/completion.ts';
import { referencesAt, renameAt } from '../src/dev/lsp/navigation.ts';
import { problemsByFile } from '../src/dev/lsp/problems.ts';
import { Workspace } from '../src/dev/lsp/workspace.ts';
import { writeDefinitions } from './definitions.ts';
import { median } from './load.ts';
import { number, table } from './report.ts';

const FILE_COUNTS = [1, 100, 1000];
const KEYSTROKES = 15;
/** The bar in milliseconds from a keystroke to its problems, with 100 files. */
const LIMIT_MS = 50;
const LIMIT_FILES = 100;

/** CPU milliseconds, which other programs of the machine affect less than the time on the clock. */
function measured(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function measure(files: number): { readonly cells: readonly string[]; readonly checkMs: number } {
  const directory = mkdtempSync(join(tmpdir(), 'svc-lsp-'));
  const folder = writeDefinitions(directory, 'http://127.0.0.1:1', files);
  const workspace = new Workspace({ version: '0.1.0', versionCheck: true, beta: false, apiKey: false });
  const loadMs = measured(() => workspace.addFolder(pathToFileURL(directory).href));
  const uri = pathToFileURL(join(folder, 'main.baml')).href;
  const opened = workspace.at(uri);
  const original = opened?.program.file(opened.path)?.text;
  if (opened === undefined || original === undefined) throw new Error('the workspace does not have the file');
  const { program, path } = opened;
  const changed = original.replace('summary string', 'summary str');
  if (changed === original) throw new Error('the file has no field to change');
  const times: Record<'check' | 'complete' | 'refer' | 'rename', number[]> = {
    check: [],
    complete: [],
    refer: [],
    rename: [],
  };
  for (let keystroke = 0; keystroke < KEYSTROKES; keystroke += 1) {
    const isBroken = keystroke % 2 === 0;
    let problems = 0;
    times.check.push(
      measured(() => {
        workspace.edit({ uri, version: keystroke, text: isBroken ? changed : original });
        problems = problemsByFile(program, workspace).get(path)?.length ?? 0;
      }),
    );
    if (problems > 0 !== isBroken) throw new Error(`found ${String(problems)} problems`);
    const offset = original.indexOf('summary string') + 'summary str'.length;
    times.complete.push(measured(() => completionsAt({ program, path, offset }, [])));
    const cursor = { program, path, offset: original.indexOf('class Contact') + 'class C'.length };
    times.refer.push(measured(() => referencesAt(workspace, cursor, true)));
    times.rename.push(measured(() => renameAt(workspace, cursor, 'Renamed')));
  }
  rmSync(directory, { recursive: true });
  const { check, complete, refer, rename } = times;
  const cells = [loadMs, ...[check, complete, refer, rename].map(median)].map(number);
  return { cells: [String(files), ...cells], checkMs: median(check) };
}

const rows = FILE_COUNTS.map((files) => ({ files, ...measure(files) }));
const head = ['files', 'load ms', 'check ms', 'completion ms', 'references ms', 'rename ms'];
console.log(table([head, ...rows.map(({ cells }) => cells)]));
const slow = rows.find(({ files, checkMs }) => files === LIMIT_FILES && checkMs > LIMIT_MS);
if (slow !== undefined) {
  console.error(
    `a check of ${String(LIMIT_FILES)} files takes ${number(slow.checkMs)} ms: more than ${String(LIMIT_MS)} ms`,
  );
  process.exitCode = 1;
}
