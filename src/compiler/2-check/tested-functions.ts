import type { TestNode } from '../1-parse/syntax-nodes.ts';
import { textOf, valueOf } from './build/text-of.ts';

/** Names of the functions that a test is for, each once. */
export function testedFunctions(test: TestNode): ReadonlySet<string> {
  const functions = valueOf(test.entries, 'functions');
  return new Set(functions?.kind === 'list' ? functions.items.flatMap((item) => textOf(item) ?? []) : []);
}
