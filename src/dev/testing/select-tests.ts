import { resolve, sep } from 'node:path';
import { matchesWildcard } from '../../base/wildcard.ts';
import type { TestType } from '../../schema/program.ts';

/** The tests that a user asks for. An empty list selects all. */
export interface TestSelection {
  /** Names of functions; `*` matches any characters. */
  readonly functions: readonly string[];
  readonly names: readonly string[];
  /** `Function::Test`, `Function::`, `::Test`, or a name that a function or a test can have. */
  readonly include: readonly string[];
  /** In the same form as `include`, which it overrides. */
  readonly exclude: readonly string[];
  /** Files with tests, and directories that contain such files. */
  readonly paths: readonly string[];
}

/** One test with one of its functions. */
export interface SelectedTest {
  readonly test: TestType;
  /** Empty for a test that names no function. */
  readonly functionName: string;
}

/** Returns each test once for each of its functions, as far as the user asks for them, in the order of the definitions. */
export function selectTests(tests: readonly TestType[], selection: TestSelection): readonly SelectedTest[] {
  const functions = matcherOf(selection.functions);
  const names = matcherOf(selection.names);
  const include = selection.include.map(pairMatcher);
  const exclude = selection.exclude.map(pairMatcher);
  const roots = selection.paths.map((path) => resolve(path));
  return tests.flatMap((test) => {
    if (!names(test.name) || !isInside(resolve(test.span.file), roots)) return [];
    const tested = test.functions.length === 0 ? [''] : test.functions;
    return tested
      .filter((functionName) => functions(functionName))
      .filter((name) => include.length === 0 || include.some((matches) => matches(name, test.name)))
      .filter((name) => !exclude.some((matches) => matches(name, test.name)))
      .map((functionName) => ({ test, functionName }));
  });
}

/** True if no restriction is set. */
export function selectsAll({ functions, names, include, exclude, paths }: TestSelection): boolean {
  return [functions, names, include, exclude, paths].every((list) => list.length === 0);
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.length === 0 || roots.some((root) => path === root || path.startsWith(root + sep));
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  return (name) => patterns.length === 0 || patterns.some((pattern) => matchesWildcard(pattern, name));
}

function pairMatcher(pattern: string): (functionName: string, testName: string) => boolean {
  const [first = '', second] = pattern.split('::');
  if (second === undefined) {
    return (functionName, testName) => matchesWildcard(first, functionName) || matchesWildcard(first, testName);
  }
  return (functionName, testName) =>
    matchesWildcard(first || '*', functionName) && matchesWildcard(second || '*', testName);
}
