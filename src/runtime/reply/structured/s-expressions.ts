import { bareNode, listOf, objectOf } from './make-node.ts';
import { stringNode, type ReplyNode } from '../text/reply-node.ts';

/*
 * S-expressions and EDN: `((name "Ada") (age 36))`, `(person (name "Ada"))`, `(:name "Ada" :age 36)`, `{:name "Ada"}`.
 */

interface Form {
  /** The opening bracket of a list; empty for an atom or a string. */
  readonly bracket: string;
  readonly items: Form[];
  readonly node: ReplyNode | undefined;
  /** The name of a symbol or keyword; empty for other forms. */
  readonly name: string;
}

const TOKEN = /[\s,]+|"(?:[^"\\]|\\[^])*"|[()[\]{}]|'(?=[(\w])|[^\s,()[\]{}"';]+/uy;
const NAME = /^:?([\p{L}_][\p{L}\p{N}_?!*.-]{0,60})$/u;
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const MAX_NESTING = 50;

/** Returns the value of a reply that is one S-expression with names; none for other texts. */
export function sExpressionValues(text: string): readonly ReplyNode[] {
  const body = (/```\w*\n([^]*?)```/u.exec(text)?.[1] ?? text).trim();
  if (!BEGINS.test(body)) return [];
  const form = formOf(body);
  const value = form === undefined ? undefined : valueOfForm(form, 0);
  return value === undefined || value.isScalar ? [] : [value];
}

const BEGINS = /^'?[([{]\s*(?:[([{]\s*)*[:\p{L}][\p{L}\p{N}_-]*[\s)]/u;

/** Returns the only form of a text; undefined if its brackets do not match. */
function formOf(text: string): Form | undefined {
  const root = listForm('(');
  const open = [root];
  for (let at = 0; at < text.length;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const top = open.at(-1);
    if (token === undefined || top === undefined || open.length > MAX_NESTING) return undefined;
    at += token.length;
    if (token in CLOSERS) {
      const list = listForm(token);
      top.items.push(list);
      open.push(list);
    } else if (')]}'.includes(token)) {
      if (open.length === 1 || CLOSERS[top.bracket] !== token) return undefined;
      open.pop();
    } else if (/[^\s,']/u.test(token)) top.items.push(atomForm(token));
  }
  return open.length === 1 && root.items.length === 1 ? root.items[0] : undefined;
}

function listForm(bracket: string): Form {
  return { bracket, items: [], node: undefined, name: '' };
}

function atomForm(token: string): Form {
  if (token.startsWith('"')) {
    const string = stringNode(token.slice(1, -1).replaceAll(/\\([^])/gu, (_, escaped: string) => escaped));
    string.quoted = true;
    return { bracket: '', items: [], node: string, name: '' };
  }
  const isBool = token === '#t' || token === '#f';
  const node = bareNode(isBool ? String(token === '#t') : token.replace(/^:/u, ''));
  return { bracket: '', items: [], node, name: NAME.exec(token)?.[1] ?? '' };
}

function valueOfForm(form: Form, depth: number): ReplyNode {
  const { items, node, bracket } = form;
  if (node !== undefined) return node;
  const members = bracket === '[' ? undefined : (pairsOf(items) ?? alternating(items, bracket === '{'));
  if (members !== undefined) return objectOf(members.map(([name, value]) => [name, valueOfForms(value, depth + 1)]));
  return listOf(items.map((item) => valueOfForm(item, depth + 1)));
}

type Member = readonly [name: string, value: readonly Form[]];

/** Returns the members of `((name …) (age …))` and of `(person (name …) (age …))`. */
function pairsOf([first, ...rest]: readonly Form[]): readonly Member[] | undefined {
  if (first === undefined) return undefined;
  const pairs = first.name !== '' && first.bracket === '' ? rest : [first, ...rest];
  const names = new Set(pairs.map(({ items }) => items[0]?.name ?? ''));
  if (pairs.length === 0 || names.has('') || names.size < pairs.length) return undefined;
  return pairs.map(({ items: [name, ...value] }) => [
    name?.name ?? '',
    value.filter((each) => each.node?.text !== '.'),
  ]);
}

/** Returns the members of `(:name … :age …)`. `isMap`: the keys need no colon. */
function alternating(items: readonly Form[], isMap: boolean): readonly Member[] | undefined {
  const from = items.length % 2;
  if (items.length < 2 || (from === 1 && (isMap || items[0]?.name === ''))) return undefined;
  const members: Member[] = [];
  for (let at = from; at < items.length; at += 2) {
    const [key, value] = [items[at], items[at + 1]];
    const name = isMap ? (key?.node?.text ?? '') : (key?.name ?? '');
    if (key === undefined || value === undefined || name === '') return undefined;
    members.push([name, [value]]);
  }
  return isMap || members.length > 1 ? members : undefined;
}

function valueOfForms(forms: readonly Form[], depth: number): ReplyNode {
  const [only, ...others] = forms;
  if (only !== undefined && others.length === 0) return valueOfForm(only, depth);
  return valueOfForm({ bracket: '(', items: [...forms], node: undefined, name: '' }, depth);
}
