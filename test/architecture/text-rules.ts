import type { TextFile } from './source-files.ts';

/** A pattern that certain files must not contain, and the reason. */
export interface TextRule {
  readonly why: string;
  readonly pattern: RegExp;
  /** Comments can contain the pattern, code cannot. */
  readonly codeOnly?: true;
  /** True for the files that the rule applies to. */
  applies(path: string): boolean;
}

/** A file longer than this has two subjects. */
export const MAX_LINES = 700;

/** Patterns are spelled so that they do not match themselves. */
export const TEXT_RULES: readonly TextRule[] = [
  {
    why: 'only src/config reads the environment and passes settings to the rest',
    // A string that begins with it is advice for users of the library.
    pattern: /(?<!')process\.en[v]\b/,
    codeOnly: true,
    applies: (path) => isProgram(path) && !path.startsWith('src/config/'),
  },
  {
    why: 'only the command line prints; the rest uses a logger',
    pattern: /\bconsole\.[a-z]/,
    codeOnly: true,
    applies: (path) => isProgram(path) && !path.startsWith('src/cli/'),
  },
  {
    why: 'nothing disables the compiler or the linter, except for one rule on one line with the reason',
    pattern: /@ts-(?:ignore|nocheck|expect-error)|(?:ox|es)lint-disabl[e](?!-next-line [\w/-]+ -- \w)/,
    applies: (path) => /\.tsx?$/.test(path),
  },
  {
    why: 'a note to oneself belongs in the tracker',
    pattern: /\b(?:TOD[O]|FIXM[E]|XX[X])\b/,
    applies: (path) => /^(?:src|workers|bench|test|docs|deploy|\.github)\//.test(path) && !path.includes('/samples/'),
  },
  {
    why: 'no test measures CPU time or retries: countSteps counts work, and a test that fails once has failed',
    pattern: /\bcpuUsag[e]\b|\bhrtim[e]\b|\bretr[y]: [1-9]/,
    codeOnly: true,
    applies: (path) => path.startsWith('test/'),
  },
  {
    why: 'properties run through assertProperty, which repeats them by their seed',
    pattern: /\bfc\.(?:asser[t]|chec[k])\(/,
    applies: (path) => path.startsWith('test/') && path !== 'test/support/assert-property.ts',
  },
  {
    why: 'a path of one machine has no meaning on another',
    pattern: /(?<![\w.:*}])\/(?:wor[k]|hom[e]\/[a-z]+|User[s]\/\w+|roo[t]|workspac[e])\//,
    applies: () => true,
  },
  {
    why: 'the person who installs svc chooses the package registry',
    pattern: /https?:\/\/[\w.-]*(?:registr[y]|artifactor[y]|nexu[s]|verdacci[o])[\w.-]*\/|"resolve[d]": "http/,
    applies: () => true,
  },
];

function isProgram(path: string): boolean {
  return /^(?:src|workers)\/.*\.tsx?$/.test(path);
}

/** Returns every line that breaks the rule, as `path:line: text`. */
export function linesAgainst(rule: TextRule, files: readonly TextFile[]): readonly string[] {
  return files
    .filter((file) => rule.applies(file.path) && rule.pattern.test(file.text))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
        .filter(({ line }) => rule.pattern.test(line) && !(rule.codeOnly === true && isComment(line)))
        .map(({ line, at }) => `${at}: ${line.trim().slice(0, 120)}`),
    );
}

function isComment(line: string): boolean {
  return /^\s*(?:\*|\/[/*])/.test(line);
}

/** Returns the files of the program over the limit, as `path: lines`; tables of test cases can be longer. */
export function longFiles(files: readonly TextFile[]): readonly string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ path, lines }) => isProgram(path) && lines > MAX_LINES)
    .map(({ path, lines }) => `${path}: ${lines}`);
}
