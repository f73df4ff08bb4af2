// Bundles svc with the packages that it uses, so that an installation is one package
// (docs/adr/0009-programs-are-bundled.md and docs/adr/0022-an-installation-is-one-package.md):
//   dist/bin       the command, the worker process and the threads; their common code is in files that they share. The first file of each
//                  loads the others through the cache of compiled code (docs/adr/0034-code-is-compiled-once.md)
//   dist/lib       the library
//   dist/packages  packages that sources load on first use, by `createRequire`; and the licences of all packages
//   dist/node_modules  a package for each binary of uWebSockets.js
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { writeCopiedPackages } from './copied-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const load = createRequire(import.meta.url);
const { name: packageName, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Users install the first if they need it. piscina and debug, a package of ioredis, use the others if they are there: for an
 * option that svc does not set, and for colors.
 */
const EXTERNAL = ['@aws-sdk/credential-provider-ini', '@napi-rs/nice', 'better-sqlite3', 'pg-native', 'supports-color'];

/** The binaries of uWebSockets.js that svc uses (docs/adr/0036-binaries-of-uwebsockets.md), with the version of Node of their ABI. */
const BINARIES = ['x64', 'arm64'].flatMap((arch) => [
  { arch, abi: 115, major: 20 },
  { arch, abi: 127, major: 22 },
]);

const BINARY_PACKAGE = `${packageName}-uws`;

/** How the package finds its binary, and how svc does. */
const BINARY_FILE = './bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node';
const BINARY_NAME = `${BINARY_PACKAGE}-\${process.platform}-\${process.arch}-\${process.versions.modules}`;

/** What sources load on first use, by the name of its file in dist/packages. */
const lazyPackages = new Map();

/** The module that loads the files of programs. */
const LOADER = join(root, 'src/base/code-cache.ts');

/** `loader`: how a source loads the file of a package. */
const packageFiles = (loader) => ({
  name: 'package-files',
  transform(code, id) {
    // A change within a line needs no new source map.
    if (id.endsWith('/uws.mjs')) return { code: replaceOnce(code, BINARY_FILE, BINARY_NAME), map: null };
    if (id.includes('/node_modules/')) return undefined;
    // `charset` leaves `String.raw` unmodified. In svc, its strings are always the source of a regular expression.
    const ascii = code.includes('String.raw') ? code.replaceAll(/[\u0080-\uffff]/g, escapedUnit) : code;
    if (!ascii.includes(LOAD)) return { code: ascii, map: null };
    const bundled = ascii.replaceAll(/(?<=\bload\(')(?!\.)[^']+(?='\))/gu, lazyPackage);
    return { code: replaceOnce(bundled, LOAD, `const load = ${loader};`), map: null };
  },
});

const LOAD = 'const load = createRequire(import.meta.url);';

/**
 * For users who bundle the library: it names the files that it loads on first use in calls of `require`, which bundlers follow, and
 * does not ask where it is.
 */
const bundleable = {
  name: 'bundleable',
  transform(code, id) {
    if (id.includes('/node_modules/') || !code.includes('createRequire')) return undefined;
    return {
      code: code
        .replace(`createRequire(import.meta.url)('${packageName}/package.json')`, JSON.stringify({ version }))
        .replace(LOAD, '')
        .replaceAll(/\bload\((?=')/gu, 'require('),
      map: null,
    };
  },
};

/**
 * A bundler that writes an ES module leaves `require('node:fs')` as it is, and an ES module has no `require`. Every module has
 * `process.getBuiltinModule`, since Node 20.16.
 */
const builtinModules = {
  name: 'builtin-modules',
  renderChunk(code) {
    return code.replaceAll(/(?<![.\w$])require\("([\w:/]+)"\)/gu, (call, name) =>
      isBuiltin(name) || name.startsWith('node:') ? `process.getBuiltinModule("${name}")` : call,
    );
  },
};

function escapedUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function replaceOnce(text, part, by) {
  const parts = text.split(part);
  if (parts.length !== 2) throw new Error(`"${part}" occurs ${parts.length - 1} times`);
  return parts.join(by);
}

/** Registers a package, and returns its path from dist/bin or dist/lib. */
function lazyPackage(specifier) {
  const name = specifier.replace(/\.js$/u, '').replaceAll(/[@/]+/gu, '-');
  lazyPackages.set(name, specifier);
  return `../packages/${name}.js`;
}

for (const folder of ['bin', 'cache', 'lib', 'packages']) rmSync(join(dist, folder), { recursive: true, force: true });

/** Bundles the entry files into a folder of dist. */
async function bundle(
  folder,
  input,
  { external = [], extension = 'js', loader, plugins = [], sourcemap = false } = {},
) {
  const build = await rolldown({
    input,
    platform: 'node',
    tsconfig: false,
    external: [...EXTERNAL, ...external, /^\.\.\/packages\//u],
    makeAbsoluteExternalsRelative: false,
    resolve: { mainFields: ['module', 'main'] },
    plugins: [packageFiles(loader ?? 'createRequire(import.meta.url)'), ...plugins],
  });
  const { output } = await build.write({
    dir: join(dist, folder),
    format: 'cjs',
    paths: { [LOADER]: './code-cache.js' },
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name].${extension}`,
    // In code from a cache, Node 20 has no `import()` (findings/vm-script-cached-import.sh).
    dynamicImportInCjs: folder !== 'bin',
    sourcemap,
    sourcemapExcludeSources: true,
    // V8 keeps the source of every loaded file, with two bytes per character unless all are Latin-1.
    comments: false,
    charset: 'ascii',
  });
  await build.close();
  const wide = output.find(({ code = '' }) => /[\u0100-\uffff]/.test(code));
  if (wide !== undefined) throw new Error(`${folder}/${wide.fileName} has characters beyond Latin-1`);
  return output;
}

// One flat folder for all programs: they find each other, and the assets, relative to their own file.
const entries = {
  'svc-program': join(root, 'src/cli/main.ts'),
  'http-worker-program': join(root, 'workers/http-worker.ts'),
  'compile-thread-program': join(root, 'workers/compile-thread.ts'),
  // Node loads these programs: large replies are rare, and no start waits for the database of calls.
  'calls-thread': join(root, 'workers/calls-thread.ts'),
  'parse-thread': join(root, 'workers/parse-thread.ts'),
};
const loaderFiles = await bundle('bin', { 'code-cache': LOADER });
// The `require` of a file is that of its loader.
const programs = await bundle('bin', entries, { external: [LOADER], loader: 'require', sourcemap: true });
for (const name of ['svc', 'http-worker', 'compile-thread']) {
  const first = name === 'svc' ? '#!/usr/bin/env node\n' : '';
  const run = `module.exports = require('./code-cache.js').runCached(require.resolve('./${name}-program.js'));\n`;
  writeFileSync(join(dist, 'bin', `${name}.js`), first + run);
}

// Programs of both kinds can load a CommonJS module, and it exists once in a program that has both.
const entry = { index: join(root, 'src/index.ts') };
const plugins = [bundleable, builtinModules];
const library = await bundle('lib', entry, { extension: 'cjs', plugins });
const names = library.find((chunk) => chunk.isEntry).exports;
// For an import of a CommonJS module, Node searches its text for exports, which takes longer than to run this one. It searches a
// small file instead.
const small = names.map((name) => `exports.${name} = library.${name};\n`).join('');
writeFileSync(join(dist, 'lib/exports.cjs'), `const library = require('./index.cjs');\n${small}`);
writeFileSync(join(dist, 'lib/index.mjs'), `export { ${names.join(', ')} } from './exports.cjs';\n`);

const files = Object.fromEntries([...lazyPackages].map(([name, specifier]) => [name, load.resolve(specifier)]));
// piscina starts its threads with the file `worker.js` beside its own.
files['worker'] = join(load.resolve('piscina'), '../worker.js');
const packages = await bundle('packages', files, { plugins: [builtinModules] });
for (const folder of ['bin', 'packages']) writeFileSync(join(dist, folder, 'package.json'), '{ "type": "commonjs" }\n');

// The binaries of uWebSockets.js: packages of their own, of which npm installs the one that fits (docs/adr/0035-binaries-are-optional-packages.md).
// In a checkout, the programs find them here too.
rmSync(join(dist, 'node_modules'), { recursive: true, force: true });
const { license } = load('../node_modules/uWebSockets.js/package.json');
for (const { arch, abi, major } of BINARIES) {
  const name = `${BINARY_PACKAGE}-linux-${arch}-${abi}`;
  const folder = join(dist, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  copyFileSync(
    join(root, `node_modules/uWebSockets.js/dist/bin/uws_linux_${arch}_${abi}.node`),
    join(folder, 'uws.node'),
  );
  const description = `The binary of uWebSockets.js for ${packageName} on Node ${major} and Linux with glibc, ${arch}`;
  const engines = { node: `${major}.x` };
  const system = { os: ['linux'], cpu: [arch], libc: ['glibc'] };
  const manifest = { name, version, description, license, main: 'uws.node', files: ['uws.node'], engines, ...system };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), `${description}. npm installs it with ${packageName}.\n`);
  copyFileSync(join(root, 'node_modules/uWebSockets.js/LICENSE'), join(folder, 'LICENSE'));
}

const modules = [...loaderFiles, ...programs, ...library, ...packages].flatMap((chunk) => chunk.moduleIds ?? []);
writeCopiedPackages(join(dist, 'packages'), modules);
