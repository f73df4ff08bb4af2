import { fileURLToPath } from 'node:url';
import type { DefinitionProblem, FunctionType, Program } from '../../../schema/program.ts';
import type {
  PlaygroundDocument,
  PlaygroundClass,
  PlaygroundClient,
  PlaygroundEnum,
  PlaygroundFunction,
} from '../../../schema/playground-document.ts';
import type { Caller } from '../auth.ts';
import { jsonDocument, loadPage, type JsonDocument, type StaticAsset } from '../static-asset.ts';
import { VisibleDocuments, visiblePlayground } from '../visible-program.ts';
import type { ClientType, OptionValue } from '../../../schema/client.ts';
import { isStrategy, PROVIDERS } from '../../../schema/providers/providers.ts';
import type { ClassType, EnumType, Type } from '../../../schema/type.ts';

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

  /** `describe` is called when the page first asks for the description. */
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

/** The files of the page. Throws when one is missing. */
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

/** The facts about a server that the page shows beside the program. */
export interface ServerFacts extends Pick<
  PlaygroundDocument,
  'title' | 'version' | 'clientRegistry' | 'doors' | 'calls'
> {
  /** By client: the variable without which its calls fail. */
  readonly missing: ReadonlyMap<string, string>;
}

/** Describes a program to the page of the playground. */
export function describeProgram(
  program: Program,
  { missing, ...facts }: ServerFacts,
): Omit<PlaygroundDocument, 'problems'> {
  return {
    program: program.hash,
    ...facts,
    functions: program.functions.map(describeFunction),
    classes: program.classes.map(describeClass),
    enums: program.enums.map(describeEnum),
    aliases: program.aliases.map(({ name, type }) => ({ name, type: bare(type) })),
    clients: program.clients.map((client) => describeClient(client, missing)),
    providers: PROVIDERS.filter((provider) => !isStrategy(provider)),
  };
}

function describeFunction(fn: FunctionType): PlaygroundFunction {
  const { name, client, documentation, examples, parameters, returns } = fn;
  return {
    name,
    client,
    examples,
    parameters: parameters.map((each) => ({ name: each.name, type: bare(each.type) })),
    returns: bare(returns),
    ...(documentation !== undefined && { documentation }),
  };
}

function describeClass({ name, fields, description, documentation }: ClassType): PlaygroundClass {
  return {
    name,
    fields: fields.map((field) => ({ name: field.name, type: bare(field.type), ...textOf(field) })),
    ...textOf({ description, documentation }),
  };
}

function describeEnum({ name, values, description, documentation }: EnumType): PlaygroundEnum {
  return {
    name,
    values: values.map((value) => ({ name: value.name, ...textOf(value) })),
    ...textOf({ description, documentation }),
  };
}

interface Texts {
  readonly description?: string | undefined;
  readonly documentation?: string | undefined;
}

/** A person reads the comment of the author first; the description is written for models. */
function textOf({ description, documentation }: Texts): { readonly description?: string } {
  const text = documentation ?? description;
  return text === undefined ? {} : { description: text };
}

function describeClient({ name, options, provider }: ClientType, missing: ServerFacts['missing']): PlaygroundClient {
  const option = (key: string): OptionValue | undefined => options.find((each) => each.key === key)?.value;
  const model = option('model');
  const strategy = option('strategy');
  const variable = missing.get(name);
  return {
    name,
    provider,
    ...(model?.kind === 'scalar' && { model: String(model.value) }),
    ...(strategy?.kind === 'list' && {
      members: strategy.items.flatMap((item) => (item.kind === 'scalar' ? [String(item.value)] : [])),
    }),
    ...(variable !== undefined && { missing: variable }),
  };
}

/** The type without attributes: forms do not check constraints. */
function bare(type: Type): Type {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', element: bare(type.element) };
    case 'map':
      return { kind: 'map', key: bare(type.key), value: bare(type.value) };
    case 'union':
      return { kind: 'union', members: type.members.map(bare) };
    default: {
      const { constraints: _constraints, stream: _stream, ...shape } = type;
      return shape;
    }
  }
}
