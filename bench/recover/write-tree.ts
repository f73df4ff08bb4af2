import type { Member, ReplyTree, ScalarTree, TextTree } from './reply-tree.ts';

/** A part of a value that is being written. */
export interface Spot {
  /** The number of the part, counted from the root in the order of the text. */
  readonly index: number;
  readonly depth: number;
  readonly parent: 'object' | 'list' | 'none';
  /** The part is the last member of its parent. */
  readonly isLast: boolean;
  readonly tree: ReplyTree;
  /** The member of which the part is the value. */
  readonly member: Member | undefined;
}

/** How a value becomes text. Everything that is not given is as in JSON. */
export interface Style {
  /** Spaces per level; undefined for one line. */
  readonly indent?: number;
  /** No spaces at all. */
  readonly minified?: boolean;
  readonly key?: (key: string, spot: Spot) => string;
  readonly text?: (tree: TextTree, spot: Spot) => string;
  readonly scalar?: (tree: ScalarTree, spot: Spot) => string;
  readonly colon?: (spot: Spot) => string;
  /** The separator after a member, without space; for the last member too, where JSON has none. */
  readonly comma?: (spot: Spot) => string;
  /** Text before a member, on its line; `spot` is the member's value. */
  readonly before?: (spot: Spot) => string;
  /** Text after a member and its comma. */
  readonly after?: (spot: Spot) => string;
  readonly open?: (spot: Spot) => string;
  readonly close?: (spot: Spot) => string;
  /** The text of a whole part; undefined to write it as usual. */
  readonly instead?: (spot: Spot) => string | undefined;
  /** Leaves out a member. */
  readonly omit?: (spot: Spot) => boolean;
}

export function writeTree(tree: ReplyTree, style: Style = {}): string {
  return new Writer(style).write({ index: 0, depth: 0, parent: 'none', isLast: true, tree, member: undefined });
}

/** All parts of a value, from the root, in the order of the text. */
export function spotsOf(tree: ReplyTree): readonly Spot[] {
  const spots: Spot[] = [];
  const note = (spot: Spot): string => {
    spots.push(spot);
    return '';
  };
  const root: Spot = { index: 0, depth: 0, parent: 'none', isLast: true, tree, member: undefined };
  note(root);
  new Writer({ before: note }).write(root);
  return spots;
}

class Writer {
  readonly #style: Style;
  #index = 0;

  constructor(style: Style) {
    this.#style = style;
  }

  write(spot: Spot): string {
    const { tree } = spot;
    const { text, scalar, instead } = this.#style;
    const whole = instead?.(spot);
    // The parts inside keep their numbers.
    if (whole !== undefined) {
      this.#index += spotsOf(tree).length - 1;
      return whole;
    }
    switch (tree.kind) {
      case 'text':
        return text?.(tree, spot) ?? JSON.stringify(tree.text);
      case 'scalar':
        return scalar?.(tree, spot) ?? String(tree.value);
      case 'list':
        return this.#group(spot, ['[', ']'], this.#members(spot, tree.items));
      case 'object':
        return this.#group(spot, ['{', '}'], this.#members(spot, tree.members));
    }
  }

  #members(parent: Spot, parts: readonly (Member | ReplyTree)[]): readonly string[] {
    const spots = parts.map((part, at) => this.#spotOf(part, parent, at === parts.length - 1));
    const { omit } = this.#style;
    const kept = omit === undefined ? spots : spots.filter((spot) => !omit(spot));
    return kept.map((spot, at) => this.#member({ ...spot, isLast: at === kept.length - 1 }));
  }

  /** Numbers are given when a member is written, since the parts inside one come before the next. */
  #spotOf(part: Member | ReplyTree, parent: Spot, isLast: boolean): Spot {
    const member = 'key' in part ? part : undefined;
    const tree = 'key' in part ? part.value : part;
    const kind = parent.tree.kind === 'object' ? 'object' : 'list';
    return { index: -1, depth: parent.depth + 1, parent: kind, isLast, tree, member };
  }

  #member(unnumbered: Spot): string {
    this.#index += 1;
    const spot = { ...unnumbered, index: this.#index };
    const { before, after, comma } = this.#style;
    const start = before?.(spot) ?? '';
    const body = this.#keyOf(spot) + this.write(spot);
    return start + body + (comma?.(spot) ?? (spot.isLast ? '' : ',')) + (after?.(spot) ?? '');
  }

  #keyOf(spot: Spot): string {
    if (spot.member === undefined) return '';
    const { key, colon, minified } = this.#style;
    const name = spot.member.key;
    return (key?.(name, spot) ?? JSON.stringify(name)) + (colon?.(spot) ?? (minified === true ? ':' : ': '));
  }

  #group(spot: Spot, brackets: readonly [string, string], members: readonly string[]): string {
    const open = this.#style.open?.(spot) ?? brackets[0];
    const close = this.#style.close?.(spot) ?? brackets[1];
    const { indent, minified } = this.#style;
    if (members.length === 0) return open + close;
    if (indent === undefined) return open + members.join(minified === true ? '' : ' ') + close;
    const margin = '\n' + ' '.repeat(indent * spot.depth);
    const lines = members.map((member) => margin + ' '.repeat(indent) + member);
    return open + lines.join('') + margin + close;
  }
}
