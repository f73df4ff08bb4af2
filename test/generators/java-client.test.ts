import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runSvc, startServer } from '../support/running-server.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const OUTPUT = join(FOLDER, 'generated/java');
const CLASSES = join(OUTPUT, 'classes');
/** The generator with its dependencies, including Jackson, which the generated client needs too. */
const JAR = join(FOLDER, 'node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');
const KEY = 'the-password-of-this-test';

const run = promisify(execFile);
const hasJava = spawnSync('javac', ['-version']).status === 0;

/**
 * The newest release whose npm package contains the generator itself; later releases download it. Its clients for Java
 * compile unless a list contains unions.
 */
async function generate(): Promise<void> {
  const definitions = join(OUTPUT, 'definitions');
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(definitions, { recursive: true });
  cpSync(join(FOLDER, 'definitions/shop.svc'), join(definitions, 'shop.svc'));
  const { stdout } = await runSvc(['openapi', '--from', definitions], { SVC_PASSWORD: KEY });
  writeFileSync(join(OUTPUT, 'openapi.json'), stdout);
  const names = 'invokerPackage=shop,apiPackage=shop.api,modelPackage=shop.model';
  const properties = `library=native,openApiNullable=false,dateLibrary=java8,${names}`;
  const options = ['-g', 'java', '-i', join(OUTPUT, 'openapi.json'), '-o', OUTPUT];
  await run('java', ['-jar', JAR, 'generate', ...options, '--additional-properties', properties], {
    maxBuffer: 2 ** 24,
  });
}

/** Compiles every class of the generated client, and our own class. */
async function compile(): Promise<void> {
  const source = join(OUTPUT, 'src/main/java');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.java'));
  expect(files.length).toBeGreaterThan(60);
  mkdirSync(CLASSES);
  const own = join(FOLDER, 'clients/WithJava.java');
  await run('javac', ['-nowarn', '-d', CLASSES, '-cp', JAR, ...files.map((file) => join(source, file)), own]);
}

test.skipIf(!hasJava)('a client of openapi-generator for Java compiles and works', async () => {
  await generate();
  await compile();
  const server = await startServer({ from: join(FOLDER, 'definitions'), env: { SVC_PASSWORD: KEY } });
  try {
    const { stdout } = await run('java', ['-cp', `${CLASSES}:${JAR}`, 'WithJava', server.url, KEY]);
    expect(stdout.trimEnd().split('\n')).toHaveLength(11);
  } finally {
    await server.stop();
  }
});
