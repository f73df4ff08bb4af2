import {
  type CodeLens,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  SymbolKind as Kind,
  type TextEdit,
  type WorkspaceSymbol,
} from 'vscode-languageserver/node';
import type { DeclarationNode, DocumentNode, NameNode, ValueNode } from '../../compiler/1-parse/syntax-nodes.ts';
import { isTrivia, LineComment, DocComment, type DefinitionToken } from '../../compiler/1-parse/tokens.ts';
import { tokenize } from '../../compiler/1-parse/tokenize.ts';
import { testedFunctions } from '../../compiler/2-check/scope.ts';
import { formatSource } from '../../compiler/format-source.ts';
import type { SymbolKind } from '../../compiler/symbols.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { EditedProgram } from './edited-program.ts';
import { positionOf, rangeOf } from './places.ts';
import type { Workspace } from './workspace.ts';

const KINDS: Readonly<Record<SymbolKind, Kind>> = {
  class: Kind.Class,
  field: Kind.Field,
  enum: Kind.Enum,
  'enum-value': Kind.EnumMember,
  alias: Kind.TypeParameter,
  function: Kind.Function,
  workflow: Kind.Function,
  template_string: Kind.String,
  client: Kind.Interface,
  retry_policy: Kind.Object,
  generator: Kind.Object,
  test: Kind.Event,
  parameter: Kind.Variable,
  variable: Kind.Variable,
};

/** The definitions of a document with their fields and values. */
export function documentSymbols({ file, declarations }: DocumentNode): readonly DocumentSymbol[] {
  return declarations.map((node) => ({
    ...named(file, node.kind, node.name),
    detail: node.kind,
    range: rangeOf(file, node.span),
    children: membersOf(node).map(([kind, name]) => ({ ...named(file, kind, name), range: rangeOf(file, name.span) })),
  }));
}

function membersOf(node: DeclarationNode): ReadonlyArray<readonly [SymbolKind, NameNode]> {
  if (node.kind === 'class') return node.fields.map(({ name }) => ['field', name]);
  return node.kind === 'enum' ? node.values.map(({ name }) => ['enum-value', name]) : [];
}

/** The protocol forbids empty names. */
function named(
  file: SourceFile,
  kind: SymbolKind,
  { text, span }: NameNode,
): Pick<DocumentSymbol, 'name' | 'kind' | 'selectionRange'> {
  return { name: text === '' ? '…' : text, kind: KINDS[kind], selectionRange: rangeOf(file, span) };
}

/** The definitions and members of all programs whose names contain the letters of the query, in their order. */
export function workspaceSymbols(workspace: Workspace, query: string): readonly WorkspaceSymbol[] {
  const wanted = query.toLowerCase();
  return [...workspace.programs].flatMap((program) =>
    program.paths.flatMap((path) => {
      const document = program.document(path);
      if (document === undefined) return [];
      const of = (kind: SymbolKind, name: NameNode, containerName?: string): readonly WorkspaceSymbol[] =>
        containsLetters(name.text.toLowerCase(), wanted)
          ? [
              {
                name: name.text,
                kind: KINDS[kind],
                location: { uri: workspace.uriOf(path), range: rangeOf(document.file, name.span) },
                ...(containerName !== undefined && { containerName }),
              },
            ]
          : [];
      return document.declarations.flatMap((node) => [
        ...of(node.kind, node.name),
        ...membersOf(node).flatMap(([kind, name]) => of(kind, name, node.name.text)),
      ]);
    }),
  );
}

function containsLetters(name: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

// --- folding ---------------------------------------------------------------------------------------------------------

/** Blocks, maps, lists, raw strings and groups of comments that extend over several lines. */
export function foldingRanges({ file, declarations }: DocumentNode): readonly FoldingRange[] {
  const ranges: FoldingRange[] = [];
  const fold = (start: number, end: number, kind?: FoldingRangeKind): void => {
    const startLine = positionOf(file, start).line;
    const endLine = positionOf(file, end).line - (kind === undefined ? 1 : 0);
    if (endLine > startLine) ranges.push({ startLine, endLine, ...(kind !== undefined && { kind }) });
  };
  const foldValue = (value: ValueNode | undefined): void => {
    if (value === undefined) return;
    if (value.kind === 'map' || value.kind === 'list' || value.kind === 'raw-string')
      fold(value.span.start, value.span.end);
    if (value.kind === 'list') value.items.forEach(foldValue);
    if (value.kind === 'map') for (const entry of value.entries) foldValue(entry.value);
  };
  for (const node of declarations) {
    fold(node.span.start, node.span.end);
    if ('entries' in node) for (const { value } of node.entries) foldValue(value);
    if (node.kind === 'test') for (const type of node.types) fold(type.span.start, type.span.end);
  }
  for (const { first, last } of commentGroups(file.text))
    fold(first.startOffset, last.startOffset, FoldingRangeKind.Comment);
  return ranges;
}

interface CommentGroup {
  readonly first: DefinitionToken;
  last: DefinitionToken;
}

/** Comments on consecutive lines. */
function commentGroups(text: string): readonly CommentGroup[] {
  const groups: CommentGroup[] = [];
  let open = false;
  for (const token of tokenize(text)) {
    const isComment = token.tokenType === LineComment || token.tokenType === DocComment;
    const group = groups.at(-1);
    if (isComment && open && group !== undefined) group.last = token;
    else if (isComment) groups.push({ first: token, last: token });
    open = isComment || (open && isTrivia(token.tokenType) && token.image.split('\n').length <= 2);
  }
  return groups;
}

// --- lenses and formatting -------------------------------------------------------------------------------------------

/** Commands that the client runs: a test, or a function with the arguments of a test in the playground. */
const EDITOR_COMMANDS = { runTest: 'svc.runTest', openPlayground: 'svc.openPlayground' } as const;

/** The arguments of both commands: the function, the test, and the URI of the file with the test. */
function lens(
  file: SourceFile,
  name: NameNode,
  [title, command]: readonly [string, string],
  args: readonly string[],
): CodeLens {
  return { range: rangeOf(file, name.span), command: { title, command, arguments: [...args] } };
}

/** Lenses of each test, for each of its functions, and of each function. */
export function codeLenses(program: EditedProgram, workspace: Workspace, path: string): readonly CodeLens[] {
  const document = program.document(path);
  if (document === undefined) return [];
  const { file } = document;
  const { testsOf } = program.analysis().context.scope;
  return document.declarations.flatMap((node) => {
    if (node.kind === 'function') {
      const test = testsOf.get(node.name.text)?.[0]?.name;
      const args = [node.name.text, test?.text ?? '', workspace.uriOf(test?.span.file ?? path)];
      return [lens(file, node.name, ['Open in playground', EDITOR_COMMANDS.openPlayground], args)];
    }
    if (node.kind !== 'test') return [];
    const functions = testedFunctions(node);
    return functions.flatMap((name) => {
      const args = [name, node.name.text, workspace.uriOf(path)];
      const [ofFunction, itself] = functions.length === 1 ? ['', ''] : [` of ${name}`, ` ${name}`];
      return [
        lens(file, node.name, [`Run test${ofFunction}`, EDITOR_COMMANDS.runTest], args),
        lens(file, node.name, [`Open${itself} in playground`, EDITOR_COMMANDS.openPlayground], args),
      ];
    });
  });
}

/** One edit for the whole text, or none: `undefined` if a syntax error leaves the nesting unknown. */
export function formattingEdits(program: EditedProgram, path: string): readonly TextEdit[] | undefined {
  const parsed = program.parsed(path);
  if (parsed?.readable !== true) return undefined;
  const { file } = parsed.document;
  const newText = formatSource(file.text);
  if (newText === file.text) return [];
  return [{ range: rangeOf(file, { start: 0, end: file.text.length }), newText }];
}
