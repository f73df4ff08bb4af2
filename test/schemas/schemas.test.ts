import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { TypeCompiler } from '../../src/compiler/compile-types.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { isJsonObject } from '../../src/base/json.ts';
import { generatedSection } from '../docs/generated-section.ts';
import { tableOf } from '../docs/markdown.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { LIBRARIES } from './libraries.ts';
import { listToolSchemas, SERVERS, versionOf } from './servers.ts';

/*
 * The JSON Schemas of real MCP servers and schema libraries, read at run time. `npm run schemas` installs them, writes the tables of
 * docs/dynamic-types.md, and prints each schema that is refused.
 */

const MODULES = fileURLToPath(new URL('node_modules', import.meta.url));

const compiler = new TypeCompiler([
  new SourceFile(
    'main.svc',
    `class Arguments {
  @@dynamic
}
client<llm> Off {
  provider offline
}
function Read(text: string) -> Arguments {
  client Off
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`,
  ),
]);

/** The schemas of a server or a library, and what happened to them. */
interface Row {
  readonly source: string;
  readonly total: number;
  readonly noted: number;
  /** By schema, with the path. */
  readonly refused: ReadonlyMap<string, { readonly path: string; readonly message: string }>;
}

const rows: Row[] = [];

function rowOf(source: string, schemas: ReadonlyMap<string, unknown>): Row {
  const refused = new Map<string, { readonly path: string; readonly message: string }>();
  let noted = 0;
  for (const [name, schema] of schemas) {
    const compiled = compiler.compile({ json_schema: { Arguments: schema } }, 'Read');
    if (!compiled.ok) refused.set(name, compiled.failure[0] ?? { path: '', message: '' });
    else if (hasNote(schema)) noted += 1;
  }
  return { source, total: schemas.size, noted, refused };
}

/** True if the type lacks something that the schema states: other fields, a default, or a format, which is only a hint. */
function hasNote(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasNote);
  if (!isJsonObject(schema)) return false;
  const { additionalProperties: additional, properties, default: value, format, type } = schema;
  const isOpen = additional === true || (isJsonObject(additional) && Object.keys(additional).length === 0);
  const isNoted = (isOpen && properties !== undefined) || value !== undefined || format !== undefined;
  return (type !== undefined && isNoted) || Object.values(schema).some(hasNote);
}

async function load(name: string): Promise<unknown> {
  const { resolve } = createRequire(join(MODULES, 'index.js'));
  return await import(pathToFileURL(resolve(name)).href);
}

test.each(SERVERS)('the tools of $package are listed, and their schemas are read or refused', async (server) => {
  const schemas = await listToolSchemas(server, MODULES, temporaryFolder({}));
  expect(schemas.size).toBeGreaterThan(0);
  rows.push(rowOf(`${server.package} ${versionOf(join(MODULES, server.package))}`, schemas));
});

test.each(LIBRARIES)('the schemas of $name are written, and read or refused', async ({ name, packages, write }) => {
  const loaded = await Promise.all(packages.map(load));
  const schemas = new Map(Object.entries(write(...loaded)));
  expect(schemas.size).toBeGreaterThan(13);
  const [first = ''] = packages;
  rows.push(rowOf(`${name} (${versionOf(join(MODULES, first))})`, schemas));
});

test('the page shows how many schemas of each server and library are read', () => {
  expect(rows).toHaveLength(SERVERS.length + LIBRARIES.length);
  const { actual, expected } = generatedSection('docs/dynamic-types.md', 'real schemas', tablesOf(rows));
  expect(actual).toBe(expected);
});

function tablesOf(all: readonly Row[]): string {
  const cells = all.map(({ source, total, noted, refused }) => [
    source,
    String(total),
    String(total - refused.size),
    String(noted),
    String(refused.size),
  ]);
  const sums = [1, 2, 3, 4].map((column) => String(cells.reduce((sum, row) => sum + Number(row[column]), 0)));
  const read = tableOf(['from', 'schemas', 'read', 'of these with a note', 'refused'], [...cells, ['all', ...sums]]);
  return `${read}\n\n${tableOf(['reason', 'schemas'], reasonsOf(all))}`;
}

function reasonsOf(all: readonly Row[]): ReadonlyArray<readonly string[]> {
  const counts = new Map<string, number>();
  for (const { path, message } of all.flatMap(({ refused }) => [...refused.values()])) {
    const [keyword = ''] = /\w+$/u.exec(path) ?? [];
    const [start = ''] = message.split(/[;,]|\. |: svc/u);
    const reason = start.startsWith('needs') ? 'a schema for any value' : `\`${keyword}\` ${start}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => [reason, String(count)]);
}

afterAll(() => {
  for (const { source, total, refused } of rows) {
    const lines = [...refused].map(([name, { path, message }]) => `  ${name}: ${path} ${message}`);
    process.stdout.write(`${[`${source}: ${total - refused.size} of ${total} read`, ...lines].join('\n')}\n`);
  }
});
