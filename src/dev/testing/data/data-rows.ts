import { isJsonList, isOptionsKey, ownValue, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { didYouMeanOneOf } from '../../../base/suggestion.ts';
import type { DefinitionIndex, FunctionType } from '../../../schema/program.ts';
import type { Type } from '../../../schema/type.ts';
import {
  delimiterOf,
  inputRows,
  readingFault,
  valueOfCell,
  type Signature,
  type ValueKind,
} from '../../batch/input-rows.ts';
import type { RunFailure } from '../../local-runtime.ts';
import type { Expectation } from './compare-values.ts';

/** One row to evaluate. A source of rows is a list of these. */
export interface DataRow {
  /** Unique among the rows. */
  readonly id: string;
  readonly args: JsonObject;
  /** Empty if nothing is known about the value. */
  readonly expected: readonly Expectation[];
  /** Columns that only the reports contain. */
  readonly columns: JsonObject;
}

export interface DataFile {
  readonly path: string;
  readonly fn: FunctionType;
  readonly definitions: DefinitionIndex;
  readonly signature: Signature;
  /** The columns for the reports. */
  readonly copy: readonly string[];
  /** The reason why a program cannot take the arguments; undefined if all can. */
  readonly refusal: (args: JsonObject) => RunFailure | undefined;
}

/**
 * Reads the rows of a file of JSON lines or CSV. Besides the parameters, its columns are `id`, `expected` and `similar`, also with the
 * path of a field (`expected.address.city`), and those to copy. Fails with sentences that name every row and column that is wrong.
 */
export async function readDataRows(file: DataFile): Promise<Result<readonly DataRow[], string>> {
  const { path } = file;
  const delimiter = delimiterOf(path);
  if (!delimiter.ok) return delimiter;
  const reader = new RowReader(file, delimiter.value !== undefined);
  try {
    for await (const { row, read } of inputRows({ ...file, delimiter: delimiter.value, extra: reader })()) {
      const content = read();
      const args = reader.checked(content.args);
      const fault = args.ok ? reader.add(row, args.value, content.extra) : args.failure;
      if (fault !== undefined) reader.faults.push(`row ${row}: ${fault}`);
    }
  } catch (error) {
    return err(readingFault(error, path));
  }
  const columnFault = reader.columnFault();
  if (columnFault !== undefined) return err(`"${path}" cannot be read: ${columnFault}`);
  const { faults, rows } = reader;
  if (faults.length === 0) return rows.length === 0 ? err(`"${path}" has no rows`) : ok(rows);
  const all = faults.length + rows.length;
  const more = faults.length > MOST_FAULTS ? [`… and ${faults.length - MOST_FAULTS} more`] : [];
  const lines = [...faults.slice(0, MOST_FAULTS), ...more].map((line) => `\n  ${line}`);
  return err(`${faults.length} of ${all} rows of "${path}" cannot run:${lines.join('')}`);
}

/** More of them rarely have another cause. */
const MOST_FAULTS = 10;

/** A column `expected` or `similar`, and the values that it can have. */
interface ExpectedColumn extends Pick<Expectation, 'path' | 'similar'> {
  readonly kinds: ReadonlySet<ValueKind>;
}

class RowReader {
  readonly rows: DataRow[] = [];
  readonly faults: string[] = [];
  readonly required: readonly string[];
  readonly #file: DataFile;
  readonly #isCsv: boolean;
  /** By name; the sentence about a column that is wrong. */
  readonly #columns = new Map<string, Result<ExpectedColumn, string>>();
  /** The row of each id. */
  readonly #ids = new Map<string, number>();

  constructor(file: DataFile, isCsv: boolean) {
    this.#file = file;
    this.#isCsv = isCsv;
    this.required = file.copy;
  }

  /** The sentence about the first column that no value has. */
  columnFault(): string | undefined {
    for (const [name, column] of this.#columns) if (!column.ok) return `the column "${name}": ${column.failure}`;
    return undefined;
  }

  readonly has = (column: string): boolean => this.#file.copy.includes(column) || this.#isOwn(column);

  /** A column with the name of a parameter is the argument. */
  #isOwn(column: string): boolean {
    return !this.#file.signature.parameters.has(column) && /^(?:id|(?:expected|similar)(?:\..*)?)$/su.test(column);
  }

  checked(args: Result<JsonObject, RunFailure>): Result<JsonObject, string> {
    if (!args.ok) return err(sentenceOf(args.failure));
    const refusal = this.#file.refusal(args.value);
    if (refusal !== undefined) return err(sentenceOf(refusal));
    const options = Object.keys(args.value).find(isOptionsKey);
    if (options === undefined) return args;
    return err(`${options}: a row cannot have options. Use --client to select a client`);
  }

  /** Adds a row. Returns what is wrong with it. */
  add(row: number, args: JsonObject, extra: JsonObject): string | undefined {
    const id = this.#isOwn('id') ? (ownValue(extra, 'id') ?? row) : row;
    if ((typeof id !== 'string' && typeof id !== 'number') || id === '') return 'id: must be a string or a number';
    const before = this.#ids.get(String(id));
    if (before !== undefined) return `id: ${JSON.stringify(id)} is the id of row ${before}, too`;
    const expected: Expectation[] = [];
    for (const [name, value] of Object.entries(extra)) {
      if (name === 'id' || !this.#isOwn(name)) continue;
      const read = this.#expectation(name, value);
      if (!read.ok) return `${name}: ${read.failure}`;
      if (read.value !== undefined) expected.push(read.value);
    }
    this.#ids.set(String(id), row);
    const columns = Object.fromEntries(Object.entries(extra).filter(([name]) => this.#file.copy.includes(name)));
    this.rows.push({ id: String(id), args, expected, columns });
    return undefined;
  }

  /** Undefined for an empty cell: nothing is known about the value. */
  #expectation(name: string, value: JsonValue): Result<Expectation | undefined, string> {
    const column = this.#column(name);
    if (!column.ok) return column;
    const { kinds, path, similar } = column.value;
    if (this.#isCsv && value === '') return ok(undefined);
    const read = this.#isCsv && typeof value === 'string' ? valueOfExpected(value, kinds) : ok(value);
    if (!read.ok) return read;
    const kind = kindOf(read.value);
    if (kinds.has(kind)) return ok({ path, value: read.value, similar });
    return err(`expected ${[...kinds].join(' or ')}, got ${kind}`);
  }

  #column(name: string): Result<ExpectedColumn, string> {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = expectedColumn(name, this.#file.fn, this.#file.definitions);
      this.#columns.set(name, column);
    }
    return column;
  }
}

function sentenceOf({ message, details = [] }: RunFailure): string {
  return details.map(({ path, message: fault }) => `${path}: ${fault}`).join('; ') || message;
}

/** In an expected cell, `null` is null, because an empty cell has no expectation. */
function valueOfExpected(cell: string, kinds: ReadonlySet<ValueKind>): Result<JsonValue, string> {
  if (cell === 'null' && kinds.has('null')) return ok(null);
  const read = valueOfCell(cell, kinds);
  return read.ok ? ok(read.value ?? null) : read;
}

function expectedColumn(
  name: string,
  { name: functionName, returns }: FunctionType,
  definitions: DefinitionIndex,
): Result<ExpectedColumn, string> {
  const [source = '', ...path] = name.match(/[^.[\]]+/gu) ?? [];
  let types: Types = [returns];
  for (const step of path) {
    const fields = fieldsOf(types, definitions);
    types = typesBelow(types, step, definitions);
    if (types.length > 0) continue;
    const advice = fields.length === 0 ? 'It has no fields.' : didYouMeanOneOf(step, fields);
    return err(`the value of ${functionName} has no ${JSON.stringify(path.join('.'))}. ${advice}`);
  }
  return ok({ path, similar: source === 'similar', kinds: kindsOf(types, definitions) });
}

/** The types that a value can have; `any` for a field of a request's own types. */
type Types = readonly Type[] | 'any';

/** The members of unions, and the targets of recursive aliases. */
function alternatives(types: readonly Type[], definitions: DefinitionIndex, seen = new Set<string>()): readonly Type[] {
  return types.flatMap((type) => {
    if (type.kind === 'union') return alternatives(type.members, definitions, seen);
    if (type.kind !== 'alias') return [type];
    const target = definitions.aliases.get(type.name);
    if (target === undefined || seen.has(type.name)) return [];
    seen.add(type.name);
    return alternatives([target.type], definitions, seen);
  });
}

function typesBelow(types: Types, step: string, definitions: DefinitionIndex): Types {
  if (types === 'any') return types;
  const below: Type[] = [];
  for (const type of alternatives(types, definitions)) {
    if (type.kind === 'list' && /^\d+$/u.test(step)) below.push(type.element);
    if (type.kind === 'map') below.push(type.value);
    if (type.kind !== 'class') continue;
    const { fields = [], dynamic = false } = definitions.classes.get(type.name) ?? {};
    const field = fields.find(({ name, skip }) => name === step && !skip);
    if (field !== undefined) below.push(field.type);
    else if (dynamic) return 'any';
  }
  return below;
}

function fieldsOf(types: Types, definitions: DefinitionIndex): readonly string[] {
  if (types === 'any') return [];
  return alternatives(types, definitions).flatMap((type) => {
    const fields = type.kind === 'class' ? (definitions.classes.get(type.name)?.fields ?? []) : [];
    return fields.flatMap(({ name, skip }) => (skip ? [] : [name]));
  });
}

const ALL_KINDS: ReadonlySet<ValueKind> = new Set(['string', 'number', 'boolean', 'null', 'list', 'object']);

/** The kinds of JSON values that the types allow. */
export function kindsOf(types: Types, definitions: DefinitionIndex): ReadonlySet<ValueKind> {
  return types === 'any' ? ALL_KINDS : new Set(alternatives(types, definitions).map(kindOfType));
}

function kindOfType(type: Type): ValueKind {
  switch (type.kind) {
    case 'string':
    case 'enum':
      return 'string';
    case 'int':
    case 'float':
      return 'number';
    case 'bool':
      return 'boolean';
    case 'literal':
      return kindOf(type.value);
    case 'null':
    case 'list':
      return type.kind;
    default:
      return 'object';
  }
}

function kindOf(value: JsonValue): ValueKind {
  if (value === null) return 'null';
  if (isJsonList(value)) return 'list';
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
}
