import { SemanticTokensBuilder } from 'vscode-languageserver/node';
import { typesIn, typeSites } from '../../compiler/2-check/scope.ts';
import type { SymbolKind } from '../../compiler/symbols.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { EditedProgram } from './edited-program.ts';
import { positionOf } from './places.ts';

/** The types and modifiers of tokens, in the order of their numbers. */
export const TOKEN_LEGEND = {
  tokenTypes: ['class', 'property', 'enum', 'enumMember', 'type', 'function', 'macro', 'variable', 'parameter'],
  tokenModifiers: ['declaration', 'readonly', 'defaultLibrary'],
};

type TokenName = (typeof TOKEN_TYPES)[SymbolKind];

const TOKEN_TYPES = {
  class: 'class',
  field: 'property',
  enum: 'enum',
  'enum-value': 'enumMember',
  alias: 'type',
  function: 'function',
  workflow: 'function',
  template_string: 'macro',
  client: 'variable',
  retry_policy: 'variable',
  generator: 'variable',
  test: 'function',
  parameter: 'parameter',
  variable: 'variable',
} as const satisfies Record<SymbolKind, string>;

interface Token {
  readonly start: number;
  readonly end: number;
  readonly type: TokenName;
  readonly modifiers: number;
}

/** The names of a document by their meaning, as the numbers of the protocol. Grammars of editors know the rest. */
export function semanticTokens(program: EditedProgram, path: string): readonly number[] {
  const document = program.document(path);
  if (document === undefined) return [];
  const tokens = [...names(program, path)];
  for (const node of document.declarations) {
    for (const { type } of typeSites(node)) {
      const builtIn = typesIn(type).filter((inner) => inner.kind === 'name');
      tokens.push(...builtIn.map(({ span }) => token(span, 'type', MODIFIERS.defaultLibrary)));
    }
  }
  const builder = new SemanticTokensBuilder();
  let end = 0;
  // A name comes before the other tokens at its place.
  for (const each of tokens.toSorted((a, b) => a.start - b.start)) {
    if (each.start < end) continue;
    const { line, character } = positionOf(document.file, each.start);
    builder.push(line, character, each.end - each.start, TOKEN_LEGEND.tokenTypes.indexOf(each.type), each.modifiers);
    end = each.end;
  }
  return builder.build().data;
}

const MODIFIERS = { declaration: 1, readonly: 2, defaultLibrary: 4 } as const;

function token({ start, end }: Pick<Span, 'start' | 'end'>, type: TokenName, modifiers = 0): Token {
  return { start, end, type, modifiers };
}

function names(program: EditedProgram, path: string): Token[] {
  return program.placesIn(path).map(({ symbol, span }) => {
    const isConstant = symbol.kind === 'client' || symbol.kind === 'retry_policy' || symbol.kind === 'generator';
    const declares = symbol.declaration.start === span.start && symbol.declaration.file === path;
    const modifiers = (isConstant ? MODIFIERS.readonly : 0) + (declares ? MODIFIERS.declaration : 0);
    return token(span, TOKEN_TYPES[symbol.kind], modifiers);
  });
}
