import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import oniguruma from 'vscode-oniguruma';
import textmate, { type IGrammar } from 'vscode-textmate';
import { beforeAll, expect, test } from 'vitest';
import { KEYWORD_TYPES, type DefinitionToken } from '../../src/compiler/1-parse/tokens.ts';
import { tokenize } from '../../src/compiler/1-parse/tokenize.ts';
import { ROOT } from '../architecture/source-files.ts';

/** The grammar for highlighting: editors and the site of the documentation read this file. */
const GRAMMAR = 'editors/vscode/syntaxes/svc.tmLanguage.json';

let grammar: IGrammar;

beforeAll(async () => {
  const wasm = join(ROOT, 'node_modules/vscode-oniguruma/release/onig.wasm');
  await oniguruma.loadWASM(readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(readFileSync(join(ROOT, GRAMMAR), 'utf8'), GRAMMAR),
  });
  const loaded = await registry.loadGrammar('source.svc');
  if (loaded === null) throw new Error('no grammar');
  grammar = loaded;
});

/** For each character: its scopes, from the outermost to the innermost. */
function scopesOf(text: string): ReadonlyArray<readonly string[]> {
  const all: Array<readonly string[]> = [];
  let state = textmate.INITIAL;
  for (const line of text.split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    for (const { startIndex, endIndex, scopes } of tokens) {
      for (let at = startIndex; at < Math.min(endIndex, line.length); at += 1) all.push(scopes.slice(1));
    }
    // The line break.
    all.push([]);
  }
  return all;
}

/** The innermost scope of the first character of a part. */
function scopeAt(text: string, part: string): string {
  return scopesOf(text)[text.indexOf(part)]?.at(-1) ?? '';
}

/** What the tokens of the compiler have to look like. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  LineComment: /^comment\.line/u,
  DocComment: /^comment\.line\.documentation/u,
  BlockComment: /^comment\.block/u,
  QuotedString: /^string\.quoted\.double/u,
  RawString: /^string\.quoted\.raw/u,
  Expression: /^meta\.embedded\.expression/u,
  Attribute: /^storage\.modifier\.attribute/u,
  Number: /^constant\.numeric/u,
};

/** The places where the grammar disagrees with the compiler. */
function differences(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');
  const scopes = scopesOf(text);
  const wrong = (token: DefinitionToken): string | undefined => {
    const expected = token.startsDeclaration === true ? /^storage\./u : EXPECTED[token.tokenType.name];
    const from = token.startOffset;
    for (let at = from; at < from + token.image.length; at += 1) {
      if (text[at] === '\n' || text[at] === ' ') continue;
      const outermost = scopes[at]?.[0] ?? '';
      const isWord = token.tokenType.name === 'Identifier' || KEYWORD_TYPES.has(token.image);
      const isRight = expected?.test(outermost) ?? !(isWord && /^(?:comment|string)/u.test(outermost));
      if (!isRight) return `${path}: ${token.tokenType.name} ${token.image.slice(0, 60)}: ${outermost}`;
    }
    return undefined;
  };
  return tokenize(text).flatMap((token) => wrong(token) ?? []);
}

function filesUnder(folder: string): readonly string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((path) => /\.(?:svc|baml)$/u.test(path)).map((path) => join(folder, path));
}

/** A quoted string over several lines, one of which looks like a definition: the grammar ends unclosed strings before definitions. */
const DIFFERS = 'test/compiler/samples/valid/prose-in-quoted-string/input.svc';

test('the grammar for highlighting finds the tokens of the compiler in valid files', () => {
  const paths = ['svc_src', 'templates', 'test/compiler/samples/valid'].flatMap(filesUnder);
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => path !== DIFFERS).flatMap(differences)).toEqual([]);
  expect(differences(DIFFERS)).toHaveLength(3);
});

test('expressions, filters, types and names of variables have scopes of their own', () => {
  const text =
    'function Read(note: string) -> Resume? {\n  client Fast\n  prompt #"{{ note|trim }} {% if ctx.tags %}"#\n}';
  expect(scopeAt(text, 'Read')).toBe('entity.name.function.svc');
  expect(scopeAt(text, 'string')).toBe('support.type.primitive.svc');
  expect(scopeAt(text, 'Resume')).toBe('entity.name.type.svc');
  expect(scopeAt(text, 'client')).toBe('variable.other.property.svc');
  expect(scopeAt(text, 'trim')).toBe('support.function.filter.svc');
  expect(scopeAt(text, 'if')).toBe('keyword.control.svc');
  expect(scopeAt(text, 'ctx')).toBe('variable.language.svc');
  expect(scopeAt('api_key env.OPENAI_API_KEY', 'OPENAI')).toBe('constant.other.environment.svc');
});
