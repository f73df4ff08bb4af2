import { fileURLToPath } from 'node:url';
import type { DefinitionProblem } from '../../../schema/program.ts';
import type { PlaygroundDocument } from '../../../schema/playground-document.ts';
import type { Caller } from '../auth.ts';
import { jsonDocument, loadPage, type JsonDocument, type StaticAsset } from '../static-asset.ts';
import { VisibleDocuments, visiblePlayground } from '../visible-program.ts';

/** The page of the playground and the description of the program that it shows. */
export interface Playground {
  /** By request path. */
  readonly assets: ReadonlyMap<string, StaticAsset>;
  /** The description for this caller. Undefined: no key is needed. */
  documentOf(caller: Caller | undefined): JsonDocument;
  /** Replaces the errors in the newest definitions, which the description contains. */
  showProblems(problems: readonly DefinitionProblem[]): void;
}

/** The playground of the program that this process serves. */
export class ProgramPlayground implements Playground {
  readonly assets = loadPlaygroundAssets();
  readonly #describe: () => Omit<PlaygroundDocument, 'problems'>;
  #problems: readonly DefinitionProblem[] = [];
  #documents: VisibleDocuments | undefined;

  /** Reads the files of the page. `describe` is called when the page first asks for the description. */
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

/**
 * The content security policy of the page: scripts, styles and connections of this server only. Pictures that the user selects
 * are in data and blob URLs.
 */
const PLAYGROUND_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src data: blob:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** No other file in the folder is served. */
const FILES: readonly string[] = ['playground.html', 'favicon.svg', 'playground.css', 'playground.js', 'theme.js'];

/** Reads the files of the page. Throws when one is missing. */
function loadPlaygroundAssets(): ReadonlyMap<string, StaticAsset> {
  const folder = assetFolder();
  const locate = (file: string): string => fileURLToPath(new URL(file, folder));
  return loadPage('/playground', { files: FILES, locate, contentSecurityPolicy: PLAYGROUND_CONTENT_SECURITY_POLICY });
}

/** Only a build creates the files, so a run from sources reads those too. */
function assetFolder(): URL {
  const here = import.meta.url;
  const path = here.endsWith('.ts') ? '../../../../dist/assets/playground/' : '../assets/playground/';
  return new URL(path, here);
}
