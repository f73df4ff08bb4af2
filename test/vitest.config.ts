import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LIBRARY_MAX_HEAD_BYTES } from '../src/server/http/transports/framing.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Drives the built program with real processes, one file at a time. */
function builtProgram(name: string, timeoutMs = 60_000): TestProjectInlineConfiguration {
  const times = { testTimeout: timeoutMs, hookTimeout: timeoutMs, retry: 1 };
  return { root, test: { name, include: [`test/${name}/**/*.test.ts`], fileParallelism: false, ...times } };
}

// `unit` reads the sources; all others drive the built program. `browser` needs Chromium, `gateways` nginx and HAProxy,
// `generators` and `manifests` what `npm ci` installs in their folders, and `readers` a minute: they are no part of `npm test`.
export default defineConfig({
  test: {
    projects: [
      {
        root,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['e2e', 'browser', 'gateways', 'generators', 'manifests', 'readers'].map(
            (name) => `test/${name}/**`,
          ),
          // As workers have it: tests load uWebSockets.js in their own process.
          env: { UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES) },
          testTimeout: 30_000,
          // Bounds on time are measured beside other tests; what is really too slow is so each time.
          retry: 2,
        },
      },
      builtProgram('e2e'),
      builtProgram('browser'),
      builtProgram('gateways', 180_000),
      builtProgram('generators', 180_000),
      builtProgram('manifests'),
      builtProgram('readers', 180_000),
    ],
  },
});
