import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../architecture/source-files.ts';

const run = promisify(execFile);

/** Everything that a strict project turns on. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  skipLibCheck: false,
};

/** Compiles TypeScript modules by name with the TypeScript of this project, and returns its errors, one in each line. */
export async function compileErrors(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-types-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compilerOptions = { ...STRICT, target: 'es2023', module: 'nodenext', types: [], noEmit: true };
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false']);
    return '';
  } catch (error) {
    const { stdout = String(error) } = error as { readonly stdout?: string };
    return stdout.replaceAll(/^.*\/(?=[\w.-]+\()/gmu, '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
