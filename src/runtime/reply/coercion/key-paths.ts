import { ReplyNode } from '../text/reply-node.ts';
import { spend } from './step-budget.ts';

/*
 * Keys that are paths: `address.street`, `items[0].name`, `/address/street`, `$.name`, `address__street`.
 */

/** A character that no plain key contains. */
const MAY_BE_PATH = /[.[/>]|__/u;
/** The marks for the root in JSONPath, JSON Pointer and jq. */
const ROOT = /^(?:\$(?=[.[])|(?=\/)|(?=\.))/u;
const STEP =
  /(?:^|[./]|__|->|\s>\s)([\p{L}\p{N}_$ -]{1,60}?)(?=$|[./[]|__|->|\s>\s)|\[["']?([\p{L}\p{N}_$ -]{0,60})["']?\]/uy;
const MAX_STEPS = 12;
const MAX_LENGTH = 200;

/** False for a key that is certainly no path. */
export function mayBePath(key: string): boolean {
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at);
    if (code < 48 ? code > 45 : code > 90 ? code === 91 || (code === 95 && key.charCodeAt(at + 1) === 95) : code === 62)
      return true;
  }
  return false;
}

/** Returns the names and indexes of a key that is a path; undefined for other keys. */
export function pathOf(raw: string): readonly string[] | undefined {
  if (raw.length > MAX_LENGTH || !MAY_BE_PATH.test(raw)) return undefined;
  const text = raw.trim();
  const root = ROOT.exec(text)?.[0] ?? '';
  const isRooted = root !== '' || /^[./[]/u.test(text);
  const path: string[] = [];
  let at = root.length;
  while (at < text.length && path.length < MAX_STEPS) {
    STEP.lastIndex = at;
    const step = STEP.exec(text);
    const name = (step?.[1] ?? step?.[2] ?? '').trim();
    if (step === null || step[0] === '') return undefined;
    at = STEP.lastIndex;
    // `tags[]` is the list as a whole.
    if (name !== '') path.push(name);
  }
  return at < text.length || path.length === 0 || (path.length === 1 && !isRooted) ? undefined : path;
}

/**
 * Returns an object whose keys are paths as the objects that the paths describe; undefined if no key is a path, or if two
 * paths contradict each other. `toPath`: the path of a key; undefined if it is none.
 */
export function nestedByPaths(
  node: ReplyNode,
  toPath: (key: string) => readonly string[] | undefined,
): ReplyNode | undefined {
  const paths = node.keys.map(toPath);
  if (paths.every((path) => path === undefined)) return undefined;
  spend(node.items.length);
  const root = new Branch();
  for (const [at, item] of node.items.entries()) {
    if (!root.put(paths[at] ?? [node.keys[at] ?? ''], item)) return undefined;
  }
  return root.toNode(node);
}

/** An object in the making. */
class Branch {
  readonly #members = new Map<string, Branch | ReplyNode>();

  /** Returns false if there is another value in the place. */
  put(path: readonly string[], item: ReplyNode): boolean {
    const [key = '', ...rest] = path;
    const member = this.#members.get(key);
    if (rest.length === 0) {
      if (member !== undefined) return member instanceof Branch && member.#takeAll(item);
      this.#members.set(key, item);
      return true;
    }
    const branch = member instanceof Branch ? member : new Branch();
    if (member instanceof ReplyNode && !branch.#takeAll(member)) return false;
    this.#members.set(key, branch);
    return branch.put(rest, item);
  }

  #takeAll({ kind, keys, items }: ReplyNode): boolean {
    // `items = []` before `items[0] = …` contains nothing.
    return items.length === 0
      ? kind === 'list' || kind === 'object'
      : kind === 'object' && items.every((item, at) => this.put([keys[at] ?? ''], item));
  }

  /** `like`: the object that the members come from. */
  toNode(like: ReplyNode): ReplyNode {
    const node = new ReplyNode('object');
    node.complete = like.complete;
    node.repairs = like.repairs;
    for (const [key, member] of this.#members) node.put(key, member instanceof Branch ? member.toNode(like) : member);
    return node;
  }
}
