// Bundles svc with the packages that it uses, so that an installation is one package
// (docs/adr/0009-programs-are-bundled.md and docs/adr/0020-an-installation-is-one-package.md):
//   dist/bin       the command, the worker process and the threads; their common code is in files that they share
//   dist/lib       the library
//   dist/packages  packages that sources load on first use, by `createRequire`; and the licences of all packages
//   dist/uws       the binaries of uWebSockets.js
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { writeCopiedPackages } from './copied-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const load = createRequire(import.meta.url);

/**
 * Users install the first if they need it. piscina and debug, a package of ioredis, use the others if they are there: for an
 * option that svc does not set, and for colors.
 */
const EXTERNAL = ['@aws-sdk/credential-provider-ini', '@napi-rs/nice', 'supports-color'];

/** What sources load on first use, by the name of its file in dist/packages. */
const lazyPackages = new Map();

const packageFiles = {
  name: 'package-files',
  transform(code, id) {
    // A change within a line needs no new source map.
    if (id.endsWith('/uws.mjs')) return { code: replaceOnce(code, './bin/uws_', '../uws/uws_'), map: null };
    if (id.includes('/node_modules/')) return undefined;
    // `charset` leaves `String.raw` unmodified. In svc, its strings are always the source of a regular expression.
    const ascii = code.includes('String.raw') ? code.replaceAll(/[\u0080-\uffff]/g, escapedUnit) : code;
    if (!code.includes('createRequire')) return { code: ascii, map: null };
    return { code: ascii.replaceAll(/(?<=\bload\(')(?!node:|\.)[^']+(?='\))/gu, lazyPackage), map: null };
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

/** Bundles the entry files into a folder of dist. */
async function bundle(folder, input, { format, extension = 'js', sourcemap = false }) {
  rmSync(join(dist, folder), { recursive: true, force: true });
  const build = await rolldown({
    input,
    platform: 'node',
    tsconfig: false,
    external: EXTERNAL,
    resolve: { mainFields: ['module', 'main'] },
    // Some CommonJS packages name their folder.
    ...(format === 'esm' && { transform: { define: { __dirname: 'import.meta.dirname' } } }),
    plugins: [packageFiles],
  });
  const { output } = await build.write({
    dir: join(dist, folder),
    format,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name].${extension}`,
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
  svc: join(root, 'src/cli/main.ts'),
  'http-worker': join(root, 'workers/http-worker.ts'),
  'parse-thread': join(root, 'workers/parse-thread.ts'),
  'compile-thread': join(root, 'workers/compile-thread.ts'),
};
const programs = await bundle('bin', entries, { format: 'esm', sourcemap: true });

// Programs of both kinds can load a CommonJS module, and it exists once in a program that has both.
const library = await bundle('lib', { index: join(root, 'src/index.ts') }, { format: 'cjs', extension: 'cjs' });
const names = library.find((chunk) => chunk.isEntry).exports.join(', ');
// An import of a CommonJS module would search its whole text for exports, which takes longer than to run it.
writeFileSync(
  join(dist, 'lib/index.mjs'),
  `import { createRequire } from 'node:module';
export const { ${names} } = createRequire(import.meta.url)('./index.cjs');
`,
);

const files = Object.fromEntries([...lazyPackages].map(([name, specifier]) => [name, load.resolve(specifier)]));
// piscina starts its threads with the file `worker.js` beside its own.
files['worker'] = join(load.resolve('piscina'), '../worker.js');
const packages = await bundle('packages', files, { format: 'cjs' });
writeFileSync(join(dist, 'packages/package.json'), '{ "type": "commonjs" }\n');

// For Node 20 and 22 on Linux with glibc (docs/adr/0001-uwebsockets-on-linux.md).
const binaries = join(root, 'node_modules/uWebSockets.js/dist/bin');
rmSync(join(dist, 'uws'), { recursive: true, force: true });
mkdirSync(join(dist, 'uws'));
for (const platform of ['linux_x64', 'linux_arm64']) {
  for (const abi of [115, 127]) {
    const name = `uws_${platform}_${abi}.node`;
    copyFileSync(join(binaries, name), join(dist, 'uws', name));
  }
}

const modules = [...programs, ...library, ...packages].flatMap((chunk) => chunk.moduleIds ?? []);
writeCopiedPackages(join(dist, 'packages'), modules);
