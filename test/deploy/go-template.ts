import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * Renders the part of Helm's templates that the chart uses: actions with trim marks, `if`, `with`, `range`, `define`, variables,
 * pipelines, and the functions below. Throws for everything else, so that a test which passes has rendered all of it.
 * `npm run test:manifests` compares its results with those of Helm.
 */
export class GoTemplates {
  readonly #defined = new Map<string, readonly Node[]>();
  readonly #bodies = new Map<string, readonly Node[]>();

  /** Reads a file and its definitions. */
  add(name: string, text: string): void {
    const body = new Parser(tokensOf(text), name).body([]);
    this.#bodies.set(
      name,
      body.nodes.filter((node) => {
        if (node.kind === 'define') this.#defined.set(node.name, node.body);
        return node.kind !== 'define';
      }),
    );
  }

  render(name: string, data: unknown): string {
    return this.#run(this.#bodies.get(name) ?? fail(`there is no template ${name}`), new Scope(data));
  }

  #run(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.#node(node, scope)).join('');
  }

  #node(node: Node, scope: Scope): string {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'output':
        return printed(this.#value(node.value, scope));
      case 'set':
        scope.set(node.name, this.#value(node.value, scope));
        return '';
      case 'if': {
        const holds = isTrue(this.#value(node.condition, scope));
        return this.#run(holds ? node.body : node.otherwise, scope.inside(scope.dot));
      }
      case 'with': {
        const value = this.#value(node.condition, scope);
        return isTrue(value) ? this.#run(node.body, scope.inside(value)) : this.#run(node.otherwise, scope);
      }
      case 'range':
        return this.#range(node, scope);
      case 'define':
        return fail('a definition inside a block');
    }
  }

  #range({ names, list, body }: Extract<Node, { kind: 'range' }>, scope: Scope): string {
    const value = this.#value(list, scope);
    // Go ranges over the keys of a map in order.
    const entries = Array.isArray(value)
      ? value.map((item: unknown, index): [unknown, unknown] => [index, item])
      : Object.entries(Object(value)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return entries
      .map(([key, item]) => {
        const inner = scope.inside(item);
        const [first, second] = names;
        if (first !== undefined) inner.declare(first, second === undefined ? item : key);
        if (second !== undefined) inner.declare(second, item);
        return this.#run(body, inner);
      })
      .join('');
  }

  #value(expression: Expression, scope: Scope): unknown {
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'path': {
        const { root, keys } = expression;
        const start = root === '.' ? scope.dot : root === '$' ? scope.root : scope.get(root);
        return keys.reduce<unknown>((value, key) => memberOf(value, key), start);
      }
      case 'call':
        return this.#call(expression, scope);
    }
  }

  #call({ name, args }: Extract<Expression, { kind: 'call' }>, scope: Scope): unknown {
    // These two evaluate no more than they need.
    if (name === 'and' || name === 'or') {
      let value: unknown;
      for (const arg of args) {
        value = this.#value(arg, scope);
        if (isTrue(value) === (name === 'or')) return value;
      }
      return value;
    }
    const values = args.map((arg) => this.#value(arg, scope));
    if (name === 'include') {
      return this.#run(
        this.#defined.get(String(values[0])) ?? fail(`no template "${String(values[0])}"`),
        new Scope(values[1]),
      );
    }
    if (name.startsWith('.')) return (memberOf(scope.root, 'Files') as Files).Get(String(values[0]));
    const run = FUNCTIONS.get(name) ?? fail(`the function "${name}" is not known`);
    return run(...values);
  }
}

/** The files of a chart that are not templates. */
export interface Files {
  readonly Get: (path: string) => string;
}

const indent = (spaces: unknown, text: unknown): string => String(text).replaceAll(/^/gmu, ' '.repeat(Number(spaces)));

type TemplateFunction = (...values: readonly unknown[]) => unknown;

const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['add', (...values) => values.reduce<number>((sum, value) => sum + Number(value), 0)],
  ['contains', (part, text) => String(text).includes(String(part))],
  ['default', (fallback, value) => (isTrue(value) ? value : fallback)],
  ['eq', (a, b) => a === b],
  ['indent', indent],
  ['nindent', (spaces, text) => `\n${indent(spaces, text)}`],
  ['not', (value) => !isTrue(value)],
  ['printf', (format, ...values) => formatted(String(format), values)],
  ['quote', (value) => JSON.stringify(printed(value))],
  ['replace', (from, to, text) => String(text).replaceAll(String(from), String(to))],
  ['sha256sum', (text) => createHash('sha256').update(String(text)).digest('hex')],
  ['toYaml', (value) => stringify(value).trimEnd()],
  [
    'trimSuffix',
    (suffix, text) => (String(text).endsWith(String(suffix)) ? String(text).slice(0, -String(suffix).length) : text),
  ],
  ['trunc', (length, text) => String(text).slice(0, Number(length))],
]);

function formatted(format: string, values: readonly unknown[]): string {
  let index = -1;
  return format.replaceAll(/%[sdv]/gu, () => printed(values[(index += 1)]));
}

function printed(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return fail('an object cannot be printed');
}

/** As in Go: empty values are false. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function fail(message: string): never {
  throw new Error(message);
}

/** The variables of a block. A block inside another one can change those of the outer one. */
class Scope {
  readonly dot: unknown;
  readonly root: unknown;
  readonly #outer: Scope | undefined;
  readonly #own = new Map<string, unknown>();

  constructor(dot: unknown, outer?: Scope) {
    this.dot = dot;
    this.root = outer === undefined ? dot : outer.root;
    this.#outer = outer;
  }

  inside(dot: unknown): Scope {
    return new Scope(dot, this);
  }

  declare(name: string, value: unknown): void {
    this.#own.set(name, value);
  }

  set(name: string, value: unknown): void {
    this.#own.set(name, value);
  }

  get(name: string): unknown {
    if (this.#own.has(name)) return this.#own.get(name);
    return this.#outer === undefined ? fail(`the variable ${name} is not declared`) : this.#outer.get(name);
  }
}

type Expression =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'path'; readonly root: string; readonly keys: readonly string[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] };

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly value: Expression }
  | { readonly kind: 'set'; readonly name: string; readonly value: Expression }
  | {
      readonly kind: 'if' | 'with';
      readonly condition: Expression;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    }
  | {
      readonly kind: 'range';
      readonly names: readonly string[];
      readonly list: Expression;
      readonly body: readonly Node[];
    }
  | { readonly kind: 'define'; readonly name: string; readonly body: readonly Node[] };

interface Token {
  readonly text?: string;
  readonly action?: string;
}

/** Splits a file into text and actions, and removes the white space that trim marks name. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let trims = false;
  for (const match of text.matchAll(/\{\{(-?)([^]*?)(-?)\}\}/gu)) {
    let before = text.slice(at, match.index);
    if (trims) before = before.trimStart();
    if (match[1] === '-') before = before.trimEnd();
    const action = (match[2] ?? '').trim();
    tokens.push({ text: before });
    if (!action.startsWith('/*')) tokens.push({ action });
    trims = match[3] === '-';
    at = match.index + match[0].length;
  }
  return [...tokens, { text: trims ? text.slice(at).trimStart() : text.slice(at) }];
}

/** Reads the blocks of a file. */
class Parser {
  readonly #tokens: readonly Token[];
  readonly #name: string;
  #at = 0;

  constructor(tokens: readonly Token[], name: string) {
    this.#tokens = tokens;
    this.#name = name;
  }

  /** Reads up to one of these actions, or to the end of the file if there are none. */
  body(ends: readonly string[]): { readonly nodes: readonly Node[]; readonly end: string } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#tokens[this.#at];
      this.#at += 1;
      if (token === undefined)
        return ends.length === 0 ? { nodes, end: '' } : fail(`${this.#name}: a block has no end`);
      const { text, action = '' } = token;
      if (text !== undefined) nodes.push({ kind: 'text', text });
      else if (ends.some((end) => action === end || action.startsWith(`${end} `))) return { nodes, end: action };
      else nodes.push(this.#node(action));
    }
  }

  #node(action: string): Node {
    const [, word = '', rest = ''] = /^(\w+)\s+([^]*)$/u.exec(action) ?? [];
    if (word === 'if' || word === 'with') return this.#condition(word, rest);
    if (word === 'define') return { kind: 'define', name: JSON.parse(rest) as string, body: this.body(['end']).nodes };
    if (word === 'range') {
      const [, names = '', list = ''] = /^(?:((?:\$\w+(?:, )?)+) := )?([^]*)$/u.exec(rest) ?? [];
      const declared = names === '' ? [] : names.split(', ');
      return { kind: 'range', names: declared, list: expressionOf(list), body: this.body(['end']).nodes };
    }
    const [, name, value] = /^(\$\w+) :?= ([^]*)$/u.exec(action) ?? [];
    if (name !== undefined) return { kind: 'set', name, value: expressionOf(value ?? '') };
    return { kind: 'output', value: expressionOf(action) };
  }

  #condition(kind: 'if' | 'with', text: string): Node {
    const { nodes, end } = this.body(['else', 'end']);
    const condition = expressionOf(text);
    if (end === 'end') return { kind, condition, body: nodes, otherwise: [] };
    const [, inner] = /^else if ([^]*)$/u.exec(end) ?? [];
    const otherwise = inner === undefined ? this.body(['end']).nodes : [this.#condition('if', inner)];
    return { kind, condition, body: nodes, otherwise };
  }
}

/** Reads a pipeline: each call gets the value before it as its last argument. */
function expressionOf(text: string): Expression {
  const words = text.match(/"(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|]+/gu) ?? [];
  const { value, at } = pipeline(words, 0);
  return at === words.length ? value : fail(`"${text}" cannot be read`);
}

interface Read {
  readonly value: Expression;
  readonly at: number;
}

function pipeline(words: readonly string[], start: number): Read {
  let { value, at } = command(words, start);
  while (words[at] === '|') {
    const next = command(words, at + 1);
    const { value: call } = next;
    if (call.kind !== 'call') return fail(`"${words.join(' ')}": only a function can follow |`);
    value = { ...call, args: [...call.args, value] };
    at = next.at;
  }
  return { value, at };
}

function command(words: readonly string[], start: number): Read {
  const name = words[start] ?? '';
  const isCall = /^[a-z]\w*$/iu.test(name) && name !== 'true' && name !== 'false';
  if (!isCall && name !== '.Files.Get') return operand(words, start);
  const args: Expression[] = [];
  let at = start + 1;
  while (at < words.length && words[at] !== '|' && words[at] !== ')') {
    const arg = operand(words, at);
    args.push(arg.value);
    at = arg.at;
  }
  return { value: { kind: 'call', name, args }, at };
}

function operand(words: readonly string[], at: number): Read {
  const word = words[at] ?? '';
  if (word === '(') {
    const inner = pipeline(words, at + 1);
    return words[inner.at] === ')' ? { value: inner.value, at: inner.at + 1 } : fail('a bracket is not closed');
  }
  if (word.startsWith('"') || /^-?\d+$/u.test(word) || word === 'true' || word === 'false') {
    return { value: { kind: 'literal', value: JSON.parse(word) }, at: at + 1 };
  }
  const [, root = '', path = ''] = /^(\$\w*|(?=\.))((?:\.\w*)*)$/u.exec(word) ?? fail(`"${word}" cannot be read`);
  const keys = path.split('.').filter((key) => key !== '');
  return { value: { kind: 'path', root: root === '' ? '.' : root, keys }, at: at + 1 };
}
