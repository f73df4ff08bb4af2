import type { ReplyNode } from './text/reply-node.ts';

/*
 * Models repeat the structure that a prompt asks for, with the names of types or placeholders in the place of values:
 * `{"name": "string"}`, `{"name": "<name>"}`, `{"name": "..."}`.
 */

const PLACEHOLDER =
  /^(?:an? )?(?:string|str|text|int|integer|float|number|double|decimal|bool|boolean|date(?:time)?|any|null|object|array|list|enum)(?:\[\]|\?)*(?:\s*(?:\||or\b|[;,(]).*)?$|^<[^<>]*>$|^\[[^[\]]*\]$|^\{+\w*\}+$|^(?:\.{3}|…)$|^your[ _].*$/isu;

/** The value of an enum, such as `DATE`, is not the name of a type. */
const LABEL = /^[A-Z_]+$/u;

/** No more members of a value are examined: a template is short. */
const MAX_EXAMINED = 200;

/**
 * True for an object or list that contains strings, all of which are the names of types or placeholders, and no number but
 * 0 or 1.
 */
export function isTemplate(root: ReplyNode): boolean {
  const open = [root];
  let strings = 0;
  for (let examined = 0; examined < open.length; examined += 1) {
    const node = open[examined];
    if (node === undefined || open.length > MAX_EXAMINED) return false;
    if (!node.isScalar) open.push(...node.items);
    else if (node.kind === 'string' || node.kind === 'bare') {
      const text = node.text.trim().slice(0, 200);
      if (!PLACEHOLDER.test(text) || LABEL.test(text)) return false;
      strings += 1;
    } else if (node.kind === 'number' && !/^[01](?:\.0*)?$/u.test(node.text)) return false;
  }
  return strings > 0;
}
