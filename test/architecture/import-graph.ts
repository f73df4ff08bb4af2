import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { parseAst } from 'rolldown/parseAst';

/** One import; type imports count too. Paths are relative to the package folder, with `/`. */
export interface Import {
  readonly from: string;
  /** A source file or the name of an npm package; Node's own modules are omitted. */
  readonly to: string;
  readonly isPackage: boolean;
}

export interface ImportGraph {
  /** Every source file, including those without imports. */
  readonly files: readonly string[];
  readonly imports: readonly Import[];
}

/** Reads all imports of `src` and `workers` under `folder`. */
export async function readImportGraph(folder: string): Promise<ImportGraph> {
  const result = await cruise(
    ['src', 'workers'],
    // With TypeScript 7 installed, the default parser finds no modules and reports no error.
    {
      parser: 'swc',
      tsPreCompilationDeps: true,
      baseDir: folder,
      doNotFollow: { path: 'node_modules|\\.tsx$' },
      // `const load = createRequire(import.meta.url)`.
      exoticRequireStrings: ['load'],
    },
    {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      conditionNames: ['import', 'types', 'default'],
      exportsFields: ['exports'],
    },
  );
  if (typeof result.output === 'string') throw new Error(result.output);
  const modules = result.output.modules.filter((module) => /^(?:src|workers)\/.*\.ts$/.test(module.source));
  const pages = filesWithJsx(folder);
  return {
    files: [...modules.map((module) => module.source), ...pages],
    imports: [...modules.flatMap(importsOf), ...pages.flatMap((file) => importsInJsx(folder, file))],
  };
}

/** The cruiser cannot parse JSX. */
function filesWithJsx(folder: string): readonly string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.tsx'));
}

/** Relative imports name files with their extensions, so no lookup is necessary. */
function importsInJsx(folder: string, file: string): readonly Import[] {
  const specifiers: string[] = [];
  collectSources(parseAst(readFileSync(join(folder, file), 'utf8'), { lang: 'tsx' }), specifiers);
  return specifiers.map((specifier) => {
    const isPackage = !specifier.startsWith('.');
    const to = isPackage ? packageName(specifier) : posix.join(posix.dirname(file), specifier);
    return { from: file, to, isPackage };
  });
}

/** Collects the specifiers of all imports, exports and dynamic imports of a syntax tree. */
function collectSources(node: unknown, into: string[]): void {
  if (typeof node !== 'object' || node === null) return;
  if ('source' in node && typeof node.source === 'object' && node.source !== null && 'value' in node.source) {
    if (typeof node.source.value === 'string') into.push(node.source.value);
  }
  for (const child of Object.values(node)) collectSources(child, into);
}

function importsOf(module: ICruiseResult['modules'][number]): readonly Import[] {
  return module.dependencies
    .filter((dependency) => !dependency.coreModule)
    .map((dependency) => {
      const isPackage = !/^\.{0,2}\//.test(dependency.module);
      const to = isPackage ? packageName(dependency.module) : dependency.resolved;
      return { from: module.source, to, isPackage };
    });
}

/** `openai/resources/chat` is the package `openai`; `@scope/name/x` is `@scope/name`. */
function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
