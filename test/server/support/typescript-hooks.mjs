import { readFile } from 'node:fs/promises';
import { transform } from '@swc/core';

const OPTIONS = { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } };

/** Lets Node load TypeScript, which version 20 does not by itself. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { code } = await transform(await readFile(new URL(url), 'utf8'), OPTIONS);
  return { format: 'module', source: code, shortCircuit: true };
}
