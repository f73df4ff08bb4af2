import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown, type Plugin } from 'rolldown';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the folder that has the entry files of threads. */
    readonly threads: string;
  }
}

const ENTRIES = {
  'compile-thread': '../../workers/compile-thread.ts',
  'parse-thread': '../../workers/parse-thread.ts',
  'hostile-thread': '../server/support/hostile-thread.ts',
  'fragmented-heap-thread': '../server/support/fragmented-heap-thread.ts',
  'optimized-code-thread': '../server/support/optimized-code-thread.ts',
};

export type ThreadName = keyof typeof ENTRIES;

/** Modules load packages and files relative to their source. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)), map: null }
      : undefined,
};

/**
 * Runs once before the tests of a project: bundles the threads that tests start, because Node 20 loads no TypeScript, and a
 * thread that loads one file starts in a fifth of the time.
 */
export default async function bundleThreads(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-threads-'));
  const input = Object.entries(ENTRIES).map(([name, path]) => [name, fileURLToPath(new URL(path, import.meta.url))]);
  const build = await rolldown({
    input: Object.fromEntries(input) as Record<string, string>,
    platform: 'node',
    tsconfig: false,
    resolve: { mainFields: ['module', 'main'] },
    plugins: [sourceUrls],
  });
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  await build.close();
  project.provide('threads', pathToFileURL(`${folder}/`).href);
  return () => rmSync(folder, { recursive: true });
}
