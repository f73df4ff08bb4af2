import { LRUCache } from 'lru-cache';
import { isJsonObject } from '../../base/json.ts';
import type { Caller } from './auth.ts';
import { jsonDocument, type JsonDocument } from './static-asset.ts';

/** Documents of callers that can call only some functions. Each is one parse of the whole document. */
const LIMITS = { max: 64, maxSize: 16 * 2 ** 20 };

type Members = Readonly<Record<string, unknown>>;

/** The paths of functions: `/call/Name`. */
const FUNCTION_PATH = /^\/(?:call|stream|render|parse)\/(?<name>\w+)$/u;

/** The document of the functions that a caller can call, without the names and types of all others. */
export class VisibleDocuments {
  readonly #whole: JsonDocument;
  readonly #hide: (document: Members, caller: Caller) => Members;
  readonly #cache = new LRUCache<string, JsonDocument>(LIMITS);

  constructor(whole: JsonDocument, hide: (document: Members, caller: Caller) => Members) {
    this.#whole = whole;
    this.#hide = hide;
  }

  /** Undefined: no key is needed. */
  of(caller: Caller | undefined): JsonDocument {
    if (caller === undefined || caller.callsAll) return this.#whole;
    const key = JSON.stringify([caller.functions, caller.clientRegistry]);
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const visible = jsonDocument(this.#hide(JSON.parse(Buffer.from(this.#whole.plain).toString()) as Members, caller));
    this.#cache.set(key, visible, { size: visible.plain.length });
    return visible;
  }
}

/** The names of the functions that the caller can call. */
export function visibleNames(caller: Caller | undefined, names: readonly string[]): readonly string[] {
  return caller === undefined ? names : names.filter((name) => caller.mayCall(name));
}

/** Removes the paths of functions that the caller cannot call, and the schemas and examples that no other path needs. */
export function visibleOpenApi(document: Members, caller: Caller): Members {
  const paths = membersOf(document['paths']).filter(([path]) => {
    const name = FUNCTION_PATH.exec(path)?.groups?.['name'];
    return name === undefined || caller.mayCall(name);
  });
  const components = Object.fromEntries(membersOf(document['components']));
  const { schemas, examples, ...others } = components;
  const pool = new Map([...sectionOf('schemas', schemas), ...sectionOf('examples', examples)]);
  const used = reachable([paths, others], pool);
  const kept = (section: string, members: unknown): Members =>
    Object.fromEntries(membersOf(members).filter(([name]) => used.has(refTo(section, name))));
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: {
      ...components,
      ...(schemas !== undefined && { schemas: kept('schemas', schemas) }),
      ...(examples !== undefined && { examples: kept('examples', examples) }),
    },
  };
}

/** Removes these functions, and the types that no other function needs, from the document of the playground. */
export function visiblePlayground(document: Members, caller: Caller): Members {
  const list = (key: string): readonly Members[] => {
    const value = document[key];
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  };
  const functions = list('functions').filter(({ name }) => typeof name === 'string' && caller.mayCall(name));
  const kinds = [
    ['class', 'classes'],
    ['enum', 'enums'],
    ['alias', 'aliases'],
  ] as const;
  const pool = new Map(
    kinds.flatMap(([kind, key]) => list(key).map((type) => [`${kind} ${String(type['name'])}`, type])),
  );
  const used = reachable(functions, pool);
  const types = kinds.map(([kind, key]) => [
    key,
    list(key).filter((type) => used.has(`${kind} ${String(type['name'])}`)),
  ]);
  return {
    ...document,
    functions,
    ...Object.fromEntries(types),
    // See `mayRead`.
    ...(!caller.callsAll && {
      calls: { off: `The key "${caller.name}" cannot read kept calls: it is for some functions only.` },
    }),
    ...(caller.clientRegistry !== undefined && { clientRegistry: caller.clientRegistry }),
  };
}

function membersOf(value: unknown): ReadonlyArray<[string, unknown]> {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function sectionOf(section: string, value: unknown): ReadonlyArray<[string, unknown]> {
  return membersOf(value).map(([name, member]) => [refTo(section, name), member]);
}

function refTo(section: string, name: string): string {
  return `#/components/${section}/${name}`;
}

/** The names in `pool` to which a value leads, through `$ref` or as a type. */
function reachable(roots: unknown, pool: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const used = new Set<string>();
  const open: unknown[] = [roots];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) open.push(...(value as unknown[]));
    if (!isJsonObject(value)) continue;
    const name =
      typeof value['$ref'] === 'string' ? value['$ref'] : `${String(value['kind'])} ${String(value['name'])}`;
    if (pool.has(name) && !used.has(name)) {
      used.add(name);
      open.push(pool.get(name));
    }
    open.push(...Object.values(value));
  }
  return used;
}
