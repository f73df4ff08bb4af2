import type { JsonObject } from '../../../base/json.ts';
import type { DefinitionIndex, FunctionExample, FunctionType } from '../../../schema/program.ts';
import { NameAllocator } from './name-allocator.ts';
import { shortenArguments, type Limits } from './shorten-arguments.ts';

/** The largest example in bytes of JSON: tests can contain whole documents, and callers load the OpenAPI document often. */
const MAX_BYTES = 4096;
const WHOLE: Limits = { characters: Infinity, items: Infinity };
/** svc cuts an example by the first of these limits that makes it small enough. */
const LIMITS: readonly Limits[] = [
  { characters: 1000, items: 50 },
  { characters: 200, items: 20 },
  { characters: 50, items: 5 },
  { characters: 10, items: 1 },
];

/**
 * The arguments of tests as examples. Each appears once in the document, as a component to which the paths of all
 * functions of the test refer.
 */
export class Examples {
  readonly #index: DefinitionIndex;
  readonly #names = new NameAllocator();
  /** Component names by the test and its example. */
  readonly #known = new Map<string, string>();
  readonly #components = new Map<string, JsonObject>();

  constructor(index: DefinitionIndex) {
    this.#index = index;
  }

  get components(): ReadonlyMap<string, JsonObject> {
    return this.#components;
  }

  /** Returns references to the examples of a function, by the names of its tests. */
  of(fn: FunctionType): JsonObject {
    const references = new Map<string, JsonObject>();
    for (const example of fn.examples) {
      const shown = this.#shown(example, fn);
      if (shown === undefined) continue;
      const component = this.#component(example.name, shown);
      // Two tests of one function can have the same name, in spite of a warning.
      const key = references.has(example.name) ? component : example.name;
      references.set(key, { $ref: `#/components/examples/${component}` });
    }
    return Object.fromEntries(references);
  }

  /** Returns undefined if calls refuse the arguments, or if they are too large even when cut. */
  #shown({ args }: FunctionExample, fn: FunctionType): JsonObject | undefined {
    const whole = shortenArguments(args, fn, this.#index, WHOLE);
    if (whole === undefined || isSmall({ value: whole })) return whole && { value: whole };
    const kilobytes = Math.ceil(Buffer.byteLength(JSON.stringify(args)) / 1024);
    const description = `Shortened: the arguments of this test take ${kilobytes} KB. "…" marks where a string is cut; lists and maps can have fewer entries.`;
    for (const limits of LIMITS) {
      const value = shortenArguments(args, fn, this.#index, limits);
      if (value !== undefined && isSmall({ description, value })) return { description, value };
    }
    return undefined;
  }

  #component(test: string, example: JsonObject): string {
    const key = JSON.stringify([test, example]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // The names of components allow fewer characters than those of tests.
    const name = this.#names.allocate(test.replaceAll(/[^\w.-]/gu, '_'));
    this.#known.set(key, name);
    this.#components.set(name, example);
    return name;
  }
}

function isSmall(example: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(example)) <= MAX_BYTES;
}
