import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import { innerTypes } from '../scope.ts';

/**
 * Far above the types that people write, and far below the limits of memory: thirty aliases that each double the last
 * have 2^30 parts.
 */
const MAX_PARTS = 10_000;
/** The longest chain of aliases, which is the recursion depth of the rules that follow them. */
const MAX_CHAIN = 100;

interface Size {
  readonly parts: number;
  readonly chain: number;
}

const SINGLE: Size = { parts: 1, chain: 0 };

/**
 * Types have a bounded size after the replacement of aliases by their targets, which can grow exponentially. This rule
 * runs first, and the checker applies no other rule if it is broken.
 */
export const typeSize: Rule = ({ scope, aliases, report }) => {
  const sizes = new Map<string, Size>();
  for (const name of aliases.usedFirst) {
    const alias = scope.aliases.get(name);
    if (alias === undefined || aliases.recursive.has(name)) continue;
    const { parts, chain } = sizeOf(alias.type, sizes);
    const tooLarge = parts > MAX_PARTS || chain >= MAX_CHAIN;
    if (tooLarge) report('check/type-too-large', alias.name.span, { name, limit: MAX_PARTS });
    // Counts as small from here on, so that the types that use it are not reported as well.
    sizes.set(name, tooLarge ? SINGLE : { parts, chain: chain + 1 });
  }
};

function sizeOf(type: TypeNode, sizes: ReadonlyMap<string, Size>): Size {
  if (type.kind === 'name') return sizes.get(type.name) ?? SINGLE;
  const parts = innerTypes(type).map((part) => sizeOf(part, sizes));
  return sum(type.kind === 'optional' ? [...parts, SINGLE] : parts);
}

function sum(sizes: readonly Size[]): Size {
  const parts = sizes.reduce((total, size) => total + size.parts, 1);
  const chain = sizes.reduce((longest, size) => Math.max(longest, size.chain), 0);
  return { parts, chain };
}
