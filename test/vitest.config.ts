import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LIBRARY_MAX_HEAD_BYTES } from '../src/server/http/transports/framing.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The seed of every property (`FC_SEED=… npm test` runs with that one again). */
const seed = process.env['FC_SEED'] ?? String(randomInt(2 ** 31));

/** Timeouts end what hangs; no test may depend on them. A test that fails once has failed. */
const TIMES = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 120_000 } }, retry: 0 };

/** Drives the built program with real processes. */
function builtProgram(name: string, fileParallelism = false): TestProjectInlineConfiguration {
  return { root, test: { name, include: [`test/${name}/**/*.test.ts`], fileParallelism, ...TIMES } };
}

// `unit` reads the sources; all others drive the built program. `browser` needs Chromium, `gateways` nginx and HAProxy,
// `generators` and `manifests` what `npm ci` installs in their folders, `manifests` also Helm, and `readers` a minute: they are
// not part of `npm test`.
export default defineConfig({
  test: {
    // Many tests wait for other processes or for timers: two files at a time, on a machine of one core as well.
    maxConcurrency: 10,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        root,
        test: {
          name: 'unit',
          globalSetup: 'test/support/print-seed.ts',
          include: ['test/**/*.test.ts'],
          exclude: ['e2e', 'browser', 'gateways', 'generators', 'manifests', 'readers'].map(
            (name) => `test/${name}/**`,
          ),
          // As workers have it: tests load uWebSockets.js in their own process.
          env: { UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES), FC_SEED: seed },
          ...TIMES,
        },
      },
      builtProgram('e2e', true),
      builtProgram('browser'),
      builtProgram('gateways'),
      builtProgram('generators'),
      builtProgram('manifests'),
      builtProgram('readers'),
    ],
  },
});
