import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/*
 * A new process spends a third of its start on compiling the text of its programs. V8 can compile it once and read the result from a file
 * (docs/adr/0034-code-is-compiled-once.md). The files are in the folder `cache` beside that of the programs. Where it cannot be
 * written or read, or where its content is stale or damaged, the process compiles, as it would without it.
 */

/** The program of this thread: each one has this module for itself. */
let running: CachedProgram | undefined;

/** Runs the file `entry` and the files that it requires, and returns its exports. Everything that it throws is its own. */
export function runCached(entry: string): unknown {
  // Node applies source maps only to the modules that it loads itself.
  if (process.sourceMapsEnabled) return createRequire(entry)(entry);
  running = new CachedProgram(entry);
  return running.require(entry);
}

/**
 * To be called when the code of a start has run, because V8 compiles a function on its first call: writes the compiled code if some was missing,
 * and frees what was read. Never throws. Later calls, and those in a process that runs from sources, do nothing.
 */
export function saveCodeCache(): void {
  running?.endStart();
}

/** Caches of other versions of Node, or for other flags, that stay beside the new one. */
const MOST_FILES = 4;

interface Cached {
  /** The checksum of the source. */
  readonly source: number;
  readonly code: Buffer;
}

interface Loaded {
  readonly source: number;
  readonly script: Script;
}

interface LoadedModule {
  exports: unknown;
}

/** Takes `exports`, `require`, `module`, `__filename` and `__dirname`. */
type ModuleFunction = (this: unknown, ...variables: readonly unknown[]) => void;

class CachedProgram {
  readonly #folder: string;
  /** The file of the cache. */
  readonly #path: string;
  readonly #prefix: string;
  readonly #cached: Map<string, Cached>;
  readonly #modules = new Map<string, LoadedModule>();
  /** By path, relative to the folder of the programs. */
  readonly #loaded = new Map<string, Loaded>();
  readonly #native: NodeJS.Require;
  /** The cache has the code of all files so far. */
  #isComplete = true;
  #isStarting = true;

  constructor(entry: string) {
    this.#folder = dirname(entry);
    this.#prefix = `${basename(entry, '.js')}-`;
    this.#path = join(this.#folder, '../cache', `${this.#prefix}${versionOfCode()}.bin`);
    this.#cached = readCache(this.#path);
    this.#native = createRequire(entry);
    // Programs import this module too.
    this.#modules.set(fileURLToPath(import.meta.url), { exports: { runCached, saveCodeCache } });
  }

  require(path: string): unknown {
    const known = this.#modules.get(path);
    if (known !== undefined) return known.exports;
    const module: LoadedModule = { exports: {} };
    this.#modules.set(path, module);
    try {
      const run = this.#compile(path).runInThisContext() as ModuleFunction;
      const folder = dirname(path);
      run.call(module.exports, module.exports, (name: string) => this.#resolve(folder, name), module, path, folder);
    } catch (error) {
      this.#modules.delete(path);
      throw error;
    }
    return module.exports;
  }

  #resolve(folder: string, name: string): unknown {
    return name.startsWith('.') && name.endsWith('.js') ? this.require(resolve(folder, name)) : this.#native(name);
  }

  #compile(path: string): Script {
    const bytes = readFileSync(path);
    const source = crc32(bytes);
    const cached = this.#cached.get(this.#nameOf(path));
    const isCurrent = cached?.source === source;
    // All files are in Latin-1: V8 keeps the text, and each character takes two bytes if one of them is in no Latin-1 text.
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) { ${bytes.toString('latin1')}\n})`,
      {
        filename: path,
        ...(isCurrent && { cachedData: cached.code }),
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      },
    );
    if (!isCurrent || script.cachedDataRejected === true) this.#isComplete = false;
    if (this.#isStarting) this.#loaded.set(this.#nameOf(path), { source, script });
    return script;
  }

  #nameOf(path: string): string {
    return path.slice(dirname(this.#folder).length + 1);
  }

  endStart(): void {
    if (this.#isStarting && !this.#isComplete) this.#write();
    this.#isStarting = false;
    this.#cached.clear();
    this.#loaded.clear();
  }

  #write(): void {
    try {
      const folder = dirname(this.#path);
      mkdirSync(folder, { recursive: true });
      const unfinished = `${this.#path}.${process.pid}.tmp`;
      // Fails before the code is serialized, which takes some milliseconds.
      writeFileSync(unfinished, '', { flag: 'wx' });
      writeFileSync(unfinished, this.#content());
      renameSync(unfinished, this.#path);
      removeOldest(folder, this.#prefix);
    } catch {
      // A read-only installation, or a full disk.
    }
  }

  /** The code of the files that this process loaded, and the old one of those that it did not. */
  #content(): Buffer {
    const parts = new Map<string, Cached>();
    for (const [name, cached] of this.#cached) if (existsSync(join(this.#folder, '..', name))) parts.set(name, cached);
    for (const [name, { source, script }] of this.#loaded) parts.set(name, { source, code: script.createCachedData() });
    return serialize(parts);
  }
}

/** V8 itself rejects the code of another version, or for other flags. */
function versionOfCode(): string {
  return `${process.version}-${process.arch}-${crc32(process.execArgv.join(' ')).toString(16)}`;
}

// --- the file --------------------------------------------------------------------------------------------------------

/** Four bytes each: the checksum of everything after them, and the length of the list of parts. */
const HEAD_BYTES = 8;

type Part = readonly [name: string, source: number, length: number];

function serialize(parts: ReadonlyMap<string, Cached>): Buffer {
  const list: readonly Part[] = [...parts].map(([name, { source, code }]) => [name, source, code.length]);
  const text = Buffer.from(JSON.stringify(list));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(text.length, 4);
  const content = Buffer.concat([head, text, ...[...parts.values()].map(({ code }) => code)]);
  content.writeUInt32LE(crc32(content.subarray(4)), 0);
  return content;
}

/**
 * An empty cache if the file is missing or damaged: V8 does not notice damage in the code itself, and would run it.
 */
function readCache(path: string): Map<string, Cached> {
  const cached = new Map<string, Cached>();
  try {
    const content = readFileSync(path);
    if (crc32(content.subarray(4)) !== content.readUInt32LE(0)) return cached;
    let end = HEAD_BYTES + content.readUInt32LE(4);
    for (const [name, source, length] of JSON.parse(content.toString('latin1', HEAD_BYTES, end)) as readonly Part[]) {
      cached.set(name, { source, code: content.subarray(end, (end += length)) });
    }
  } catch {
    // The first start, or a file that another program has written.
  }
  return cached;
}

function removeOldest(folder: string, prefix: string): void {
  const paths = readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(folder, name));
  const newestFirst = paths.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const path of newestFirst.slice(MOST_FILES)) rmSync(path, { force: true });
}
