import { cruise, type ICruiseResult } from 'dependency-cruiser';

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
    { parser: 'swc', tsPreCompilationDeps: true, baseDir: folder, doNotFollow: { path: 'node_modules' } },
    {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      conditionNames: ['import', 'types', 'default'],
      exportsFields: ['exports'],
    },
  );
  if (typeof result.output === 'string') throw new Error(result.output);
  const modules = result.output.modules.filter((module) => /^(?:src|workers)\/.*\.ts$/.test(module.source));
  return { files: modules.map((module) => module.source), imports: modules.flatMap(importsOf) };
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
