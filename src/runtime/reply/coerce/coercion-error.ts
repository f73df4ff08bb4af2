import { joinPath } from '../../../base/value-path.ts';
import type { Violation } from '../../../schema/violation.ts';
import type { ReplyNode } from '../candidates/scan/reply-node.ts';

/** The violations that one member or one union contributes are bounded by these numbers. */
const MAX_PER_MEMBER = 100;
const MAX_PER_UNION = 20;

/** The value does not match its type. */
export class CoercionError {
  readonly ok = false;
  readonly #explain: () => readonly Violation[];
  #violations: readonly Violation[] | undefined = undefined;

  constructor(explain: () => readonly Violation[]) {
    this.#explain = explain;
  }

  /** The reasons. They are computed on demand, because most errors only exclude one of several possibilities. */
  get violations(): readonly Violation[] {
    if (this.#violations !== undefined) return this.#violations;
    this.#violations = this.#explain();
    return this.#violations;
  }

  /** The first reason, in one sentence. */
  get reason(): string {
    const [first] = this.violations;
    if (first === undefined || first.path === '') return first?.message ?? '';
    return `at ${first.path}: ${first.message}`;
  }
}

/** Returns an error with one reason. */
export function coercionError(message: string, path = ''): CoercionError {
  return new CoercionError(() => [{ path, message }]);
}

/** Returns the error of a value of the wrong kind: `expected …, got …`. */
export function mismatch(expected: string, node: ReplyNode): CoercionError {
  return new CoercionError(() => [{ path: '', message: mismatchMessage(expected, node) }]);
}

/** Returns the error of a value whose member at `segment` does not match. */
export function memberError(segment: string, member: CoercionError): CoercionError {
  return new CoercionError(() => {
    const violations = member.violations.slice(0, MAX_PER_MEMBER);
    return violations.map(({ path, message }) => ({ path: joinPath(segment, path), message }));
  });
}

/** The number of members whose errors an empty list or map reports. */
export const MAX_ERRORS = 20;

/** The number of members whose reasons the message of an empty list or map contains. */
const MAX_REASONS = 3;
/** The characters of a reason inside another: reasons of nested lists would double with each level. */
const MAX_REASON = 200;

/** Returns the error of a list or map of which no member matches. `members`: the first errors, with their paths. */
export function emptiedError(node: ReplyNode, members: readonly CoercionError[]): CoercionError {
  return new CoercionError(() => {
    const violations = members.flatMap((member) => member.violations).slice(0, MAX_ERRORS);
    const reasons = violations
      .slice(0, MAX_REASONS)
      .map(({ path, message }) => shorten(`${path}: ${message}`, MAX_REASON));
    const count = node.items.length === 1 ? 'the only member' : `none of the ${node.items.length} members`;
    const verb = node.items.length === 1 ? 'does not match' : 'matches';
    return [
      { path: '', message: `${count} of the ${node.kind === 'list' ? 'list' : 'map'} ${verb} (${reasons.join('; ')})` },
      ...violations,
    ];
  });
}

/** Returns the error of a value that matches no member of a union. */
export function unionError(expected: string, node: ReplyNode, members: readonly CoercionError[]): CoercionError {
  const [first] = members;
  if (first !== undefined && members.length === 1) return first;
  return new CoercionError(() => {
    const violations = members.flatMap((member) => member.violations);
    return [{ path: '', message: mismatchMessage(expected, node) }, ...violations.slice(0, MAX_PER_UNION)];
  });
}

function mismatchMessage(expected: string, node: ReplyNode): string {
  return `expected ${expected}, got ${describeValue(node)}`;
}

/** Describes a value in a few words, for messages. */
export function describeValue(node: ReplyNode): string {
  switch (node.kind) {
    case 'list':
      return node.items.length === 1 ? 'a list of 1 item' : `a list of ${node.items.length} items`;
    case 'object':
      return 'an object';
    case 'string':
    case 'bare':
      return `the string ${JSON.stringify(shorten(node.text))}`;
    case 'number':
    case 'boolean':
    case 'null':
      return shorten(node.text);
  }
}

const SHORT = 60;

function shorten(text: string, length = SHORT): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
