import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { pathStepText } from '../../base/value-path.ts';

/** The paths at which two values differ: of scalars, of members that only one has, and of values of different kinds. */
export function differingPaths(a: JsonValue | undefined, b: JsonValue | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  compare(a, b, '', found);
  return found;
}

function compare(a: JsonValue | undefined, b: JsonValue | undefined, path: string, found: Set<string>): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.max(a.length, b.length); at += 1) compare(a[at], b[at], childPath(path, at), found);
  } else if (isJsonObject(a) && isJsonObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      compare(memberOf(a, key), memberOf(b, key), childPath(path, key), found);
    }
  } else if (a !== b) found.add(path);
}

/** An object of JSON has no other members, not even those of its prototype. */
function memberOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The path of a member, in the form in which the server names it. */
export function childPath(parent: string, step: string | number): string {
  return `${parent}${pathStepText(step, parent === '')}`;
}
