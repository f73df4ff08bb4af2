import type { TextFile } from './source-files.ts';

/** What must not stand in certain files, and why. */
export interface TextLaw {
  readonly why: string;
  readonly pattern: RegExp;
  /** Comments may say it, code may not. */
  readonly codeOnly?: true;
  /** Files that the law is for. */
  applies(path: string): boolean;
}

/** A file longer than this has two subjects. */
export const MAX_LINES = 400;

/** Patterns are spelled so that they do not match themselves. */
export const TEXT_LAWS: readonly TextLaw[] = [
  {
    why: 'only src/config reads the environment: everything else is told',
    pattern: /process\.en[v]\b/,
    codeOnly: true,
    applies: (path) => isProgram(path) && !path.startsWith('src/config/'),
  },
  {
    why: 'only the command line prints; the rest has a logger',
    pattern: /\bconsole\.[a-z]/,
    codeOnly: true,
    applies: (path) => isProgram(path) && !path.startsWith('src/cli/'),
  },
  {
    why: 'nobody tells the compiler or the linter to look away, but from one rule on one line with the reason',
    pattern: /@ts-(?:ignore|nocheck|expect-error)|(?:ox|es)lint-disabl[e](?!-next-line [\w/-]+ -- \w)/,
    applies: (path) => path.endsWith('.ts'),
  },
  {
    why: 'a note to oneself belongs into the tracker',
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
    why: 'the path of one machine means nothing on another',
    pattern: /(?<![\w.:*}])\/(?:wor[k]|hom[e]\/[a-z]+|User[s]\/\w+|roo[t]|workspac[e])\//,
    applies: () => true,
  },
  {
    why: 'where packages come from is the choice of who installs them',
    pattern: /https?:\/\/[\w.-]*(?:registr[y]|artifactor[y]|nexu[s]|verdacci[o])[\w.-]*\/|"resolve[d]": "http/,
    applies: () => true,
  },
];

function isProgram(path: string): boolean {
  return /^(?:src|workers)\/.*\.ts$/.test(path);
}

/** Every line against the law, as `path:line: text`. */
export function linesAgainst(law: TextLaw, files: readonly TextFile[]): readonly string[] {
  return files
    .filter((file) => law.applies(file.path) && law.pattern.test(file.text))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
        .filter(({ line }) => law.pattern.test(line) && !(law.codeOnly === true && isComment(line)))
        .map(({ line, at }) => `${at}: ${line.trim().slice(0, 120)}`),
    );
}

function isComment(line: string): boolean {
  return /^\s*(?:\*|\/[/*])/.test(line);
}

/** Files of the program over the limit, as `path: lines`; tables of test cases may be longer. */
export function longFiles(files: readonly TextFile[]): readonly string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ path, lines }) => isProgram(path) && lines > MAX_LINES)
    .map(({ path, lines }) => `${path}: ${lines}`);
}
