import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * As much of Go's text/template, and of the functions that Helm adds, as our chart uses; anything else throws. It lets the
 * chart be rendered where no helm is installed.
 */
export class GoTemplates {
  readonly #defined = new Map<string, readonly Node[]>();

  /** Parses a file, keeps what it defines, and returns a function that renders the rest of it. */
  add(source: string): (data: unknown) => string {
    const nodes = new Parser(tokensOf(source), this.#defined).parse();
    return (data) => this.#render(nodes, { dot: data, variables: new Map([['$', data]]) });
  }

  #render(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.#renderNode(node, scope)).join('');
  }

  #renderNode(node: Node, scope: Scope): string {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'print':
        return textOf(this.#evaluate(node.pipeline, scope));
      case 'assign':
        scope.variables.set(node.name, this.#evaluate(node.pipeline, scope));
        return '';
      case 'if':
        for (const branch of node.branches) {
          if (branch.condition === undefined || isTrue(this.#evaluate(branch.condition, scope))) {
            return this.#render(branch.body, scope);
          }
        }
        return '';
      case 'with': {
        const dot = this.#evaluate(node.pipeline, scope);
        return isTrue(dot) ? this.#render(node.body, { ...scope, dot }) : '';
      }
      case 'range':
        return this.#renderRange(node, scope);
    }
  }

  #renderRange(node: RangeNode, scope: Scope): string {
    const items = this.#evaluate(node.pipeline, scope);
    return Object.entries(items ?? {})
      .map(([key, value]) => {
        const variables = new Map(scope.variables);
        if (node.key !== undefined) variables.set(node.key, key);
        if (node.value !== undefined) variables.set(node.value, value);
        return this.#render(node.body, { dot: value, variables });
      })
      .join('');
  }

  #evaluate(pipeline: Pipeline, scope: Scope): unknown {
    let piped: readonly unknown[] = [];
    for (const command of pipeline) piped = [this.#run(command, scope, piped)];
    return piped[0];
  }

  #run(command: Command, scope: Scope, piped: readonly unknown[]): unknown {
    const [first, ...rest] = command;
    if (first?.kind !== 'name') return first === undefined ? undefined : this.#term(first, scope);
    const args = [...rest.map((term) => this.#term(term, scope)), ...piped];
    if (first.name === 'include') {
      const body = this.#defined.get(String(args[0]));
      if (body === undefined) throw new Error(`no template is called ${String(args[0])}`);
      return this.#render(body, { dot: args[1], variables: new Map([['$', args[1]]]) });
    }
    const apply = FUNCTIONS[first.name];
    if (apply === undefined) throw new Error(`the function ${first.name} is not known here`);
    return apply(...args);
  }

  #term(term: Term, scope: Scope): unknown {
    switch (term.kind) {
      case 'literal':
        return term.value;
      case 'nested':
        return this.#evaluate(term.pipeline, scope);
      case 'path': {
        if (term.variable !== undefined && !scope.variables.has(term.variable)) {
          throw new Error(`no variable ${term.variable}`);
        }
        const base = term.variable === undefined ? scope.dot : scope.variables.get(term.variable);
        return term.fields.reduce(fieldOf, base);
      }
      case 'name':
        return this.#run([term], scope, []);
    }
  }
}

interface Scope {
  readonly dot: unknown;
  readonly variables: Map<string, unknown>;
}

type Term =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'path'; readonly variable?: string; readonly fields: readonly string[] }
  | { readonly kind: 'nested'; readonly pipeline: Pipeline };
type Command = readonly Term[];
type Pipeline = readonly Command[];

interface RangeNode {
  readonly kind: 'range';
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
}

interface Branch {
  readonly condition?: Pipeline;
  readonly body: readonly Node[];
}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipeline: Pipeline }
  | { readonly kind: 'assign'; readonly name: string; readonly pipeline: Pipeline }
  | { readonly kind: 'if'; readonly branches: readonly Branch[] }
  | { readonly kind: 'with'; readonly pipeline: Pipeline; readonly body: readonly Node[] }
  | RangeNode;

type Token = { readonly text: string } | { readonly action: string };

/** Text and actions in turn; `{{-` and `-}}` take the white space beside them. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let trimNext = false;
  for (const [index, part] of source.split(/\{\{(.*?)\}\}/su).entries()) {
    if (index % 2 === 1) {
      if (part.startsWith('-')) trimLast(tokens);
      trimNext = part.endsWith(' -');
      tokens.push({ action: part.replace(/^-/u, '').replace(/ -$/u, '').trim() });
    } else {
      tokens.push({ text: trimNext ? part.trimStart() : part });
    }
  }
  return tokens;
}

function trimLast(tokens: Token[]): void {
  const last = tokens.pop();
  if (last !== undefined) tokens.push('text' in last ? { text: last.text.trimEnd() } : last);
}

class Parser {
  readonly #tokens: Token[];
  readonly #defined: Map<string, readonly Node[]>;

  constructor(tokens: Token[], defined: Map<string, readonly Node[]>) {
    this.#tokens = tokens;
    this.#defined = defined;
  }

  parse(): readonly Node[] {
    const { nodes, end } = this.#block();
    if (end !== undefined) throw new Error(`"${end}" closes nothing`);
    return nodes;
  }

  /** Nodes up to an `end` or `else`, which is returned as well. */
  #block(): { readonly nodes: readonly Node[]; readonly end?: string } {
    const nodes: Node[] = [];
    for (let token = this.#tokens.shift(); token !== undefined; token = this.#tokens.shift()) {
      if ('text' in token) nodes.push({ kind: 'text', text: token.text });
      else if (/^(?:end|else)\b/u.test(token.action)) return { nodes, end: token.action };
      else nodes.push(...this.#action(token.action));
    }
    return { nodes };
  }

  #action(action: string): readonly Node[] {
    const [, word = '', rest = ''] = /^(\w+) (.*)$/su.exec(action) ?? [];
    if (word === 'define') {
      this.#defined.set(rest.replaceAll('"', ''), this.#closedBlock());
      return [];
    }
    if (word === 'if') return [{ kind: 'if', branches: this.#branches(parsePipeline(rest)) }];
    if (word === 'with') return [{ kind: 'with', pipeline: parsePipeline(rest), body: this.#closedBlock() }];
    if (word === 'range') return [this.#range(rest)];
    const [, name, value] = /^(\$\w+) := (.*)$/su.exec(action) ?? [];
    if (name !== undefined) return [{ kind: 'assign', name, pipeline: parsePipeline(value ?? '') }];
    return action.startsWith('/*') ? [] : [{ kind: 'print', pipeline: parsePipeline(action) }];
  }

  #range(head: string): RangeNode {
    const [, key, value, items] = /^(?:(\$\w+), (\$\w+) := )?(.*)$/su.exec(head) ?? [];
    return { kind: 'range', key, value, pipeline: parsePipeline(items ?? ''), body: this.#closedBlock() };
  }

  #closedBlock(): readonly Node[] {
    const { nodes, end } = this.#block();
    if (end !== 'end') throw new Error(`expected an end, not ${end ?? 'the end of the file'}`);
    return nodes;
  }

  #branches(condition: Pipeline): readonly Branch[] {
    const { nodes, end } = this.#block();
    const branch = { condition, body: nodes };
    if (end === 'end') return [branch];
    if (end === 'else') return [branch, { body: this.#closedBlock() }];
    if (end?.startsWith('else if ') === true) return [branch, ...this.#branches(parsePipeline(end.slice(8)))];
    throw new Error(`an if ends with ${end ?? 'the end of the file'}`);
  }
}

const TERM = /\s*(?:(\()|(\))|(\|)|"((?:[^"\\]|\\.)*)"|(-?\d+)|(\$?\w*(?:\.\w+)+|\$\w*|\.)|(\w+))/suy;

function parsePipeline(source: string): Pipeline {
  const stack: Term[][][] = [[[]]];
  TERM.lastIndex = 0;
  while (TERM.lastIndex < source.trimEnd().length) {
    const match = TERM.exec(source);
    if (match === null) throw new Error(`cannot read "${source}"`);
    const [, open, close, bar, text, digits, path, name] = match;
    const pipeline = stack.at(-1) ?? [];
    if (open !== undefined) stack.push([[]]);
    else if (close !== undefined) {
      stack.pop();
      stack.at(-1)?.at(-1)?.push({ kind: 'nested', pipeline });
    } else if (bar !== undefined) pipeline.push([]);
    else if (text !== undefined) pipeline.at(-1)?.push({ kind: 'literal', value: text });
    else if (digits !== undefined) pipeline.at(-1)?.push({ kind: 'literal', value: Number(digits) });
    else if (path !== undefined) pipeline.at(-1)?.push(pathTerm(path));
    else if (name !== undefined) pipeline.at(-1)?.push(wordTerm(name));
  }
  return stack[0] ?? [];
}

function pathTerm(path: string): Term {
  const [head = '', ...fields] = path.split('.').filter((part, index) => index === 0 || part !== '');
  return head === '' ? { kind: 'path', fields } : { kind: 'path', variable: head, fields };
}

function wordTerm(name: string): Term {
  if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' };
  return { kind: 'name', name };
}

/** Helm prints nothing for a value that is missing; a typing mistake in a path has to be an error here. */
function fieldOf(base: unknown, name: string): unknown {
  if (typeof base !== 'object' || base === null || !(name in base)) throw new Error(`there is no ".${name}"`);
  return (base as Record<string, unknown>)[name];
}

function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const FUNCTIONS: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  quote: (value) => JSON.stringify(textOf(value)),
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (width, text) => `\n${indented(Number(width), textOf(text))}`,
  trunc: (length, text) => textOf(text).slice(0, Number(length)),
  trimSuffix: (suffix, text) => textOf(text).replace(new RegExp(`${textOf(suffix)}$`, 'u'), ''),
  contains: (part, text) => textOf(text).includes(textOf(part)),
  printf: (format, ...values) => printf(textOf(format), values),
  add: (...values) => values.reduce((sum: number, value) => sum + Number(value), 0),
  and: (...values) => values.find((value) => !isTrue(value)) ?? values.at(-1),
  not: (value) => !isTrue(value),
  eq: (left, right) => left === right,
  sha256sum: (text) => createHash('sha256').update(textOf(text)).digest('hex'),
};

function indented(width: number, text: string): string {
  return text
    .split('\n')
    .map((line) => `${' '.repeat(width)}${line}`)
    .join('\n');
}

function printf(format: string, values: readonly unknown[]): string {
  const left = [...values];
  return format.replaceAll(/%[sv]/gu, () => textOf(left.shift()));
}
