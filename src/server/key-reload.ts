import { watchFile } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { KeyFile } from '../config/key-file.ts';
import { readKeys } from '../config/read-keys.ts';
import type { Logger } from '../logging/logger.ts';
import { requiresKey } from './http/auth.ts';

/**
 * How often the key file is compared by its size and times. Events of the file system would miss network file systems, and the
 * symbolic links with which Kubernetes replaces mounted secrets.
 */
const POLL_MS = 1_000;

/** An editor can empty a file before it writes the new content. */
const SETTLE_MS = 100;

export interface KeyReloadOptions {
  readonly path: string;
  /** The content at the start. */
  readonly file: KeyFile;
  /** Set if the server has a key outside the file. */
  readonly password: string | undefined;
  readonly logger: Logger;
  /** Called with each new content. */
  readonly onKeys: (file: KeyFile) => void;
}

/** Reads the key file again when it changes, or on request. A file with a mistake changes nothing. */
export class KeyReload {
  readonly #options: KeyReloadOptions;
  #file: KeyFile;
  #settle: NodeJS.Timeout | undefined;

  constructor(options: KeyReloadOptions) {
    this.#options = options;
    this.#file = options.file;
  }

  start(): void {
    watchFile(this.#options.path, { interval: POLL_MS, persistent: false }, () => {
      clearTimeout(this.#settle);
      this.#settle = setTimeout(() => this.reload(), SETTLE_MS).unref();
    });
  }

  reload(): void {
    const { logger, onKeys, password, path } = this.#options;
    const read = readKeys(path);
    if (!read.ok) {
      logger.error({ reason: read.failure }, 'the key file has a mistake; the old keys stay');
      return;
    }
    const file = read.value;
    if (isDeepStrictEqual(file, this.#file)) return;
    // A mistake in a file must not open the server to everyone.
    if (requiresKey({ file: this.#file, password }) && !requiresKey({ file, password })) {
      const reason = `${JSON.stringify(path)} has no list "keys". Restart svc to serve without keys.`;
      logger.error({ reason }, 'the key file has a mistake; the old keys stay');
      return;
    }
    this.#file = file;
    logger.info({ keys: file.keys?.length ?? 0 }, 'all workers use the new keys');
    onKeys(file);
  }
}
