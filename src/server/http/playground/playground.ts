import type { DefinitionProblem } from '../../../schema/definition-problem.ts';
import type { PlaygroundDocument } from '../../../schema/playground-document.ts';
import type { Caller } from '../caller.ts';
import { jsonDocument, type JsonDocument } from '../json-document.ts';
import { VisibleDocuments, visiblePlayground } from '../visible-program.ts';
import type { StaticAsset } from '../static-asset.ts';
import { loadPlaygroundAssets } from './playground-assets.ts';

/** The page of the playground and the description of the program that it shows. */
export interface Playground {
  /** By request path. */
  readonly assets: ReadonlyMap<string, StaticAsset>;
  /** The description for this caller. Undefined: no key is needed. */
  documentOf(caller: Caller | undefined): JsonDocument;
  /** Replaces the errors in the newest definitions, which the description contains. */
  showProblems(problems: readonly DefinitionProblem[]): void;
}

/** Reads the files of the page. `describe` is called when the page first asks for the description. */
export function createPlayground(describe: () => Omit<PlaygroundDocument, 'problems'>): Playground {
  return new ProgramPlayground(describe);
}

class ProgramPlayground implements Playground {
  readonly assets = loadPlaygroundAssets();
  readonly #describe: () => Omit<PlaygroundDocument, 'problems'>;
  #problems: readonly DefinitionProblem[] = [];
  #documents: VisibleDocuments | undefined;

  constructor(describe: () => Omit<PlaygroundDocument, 'problems'>) {
    this.#describe = describe;
  }

  documentOf(caller: Caller | undefined): JsonDocument {
    const whole = () => jsonDocument({ ...this.#describe(), problems: this.#problems });
    return (this.#documents ??= new VisibleDocuments(whole(), visiblePlayground)).of(caller);
  }

  showProblems(problems: readonly DefinitionProblem[]): void {
    this.#problems = problems;
    this.#documents = undefined;
  }
}
