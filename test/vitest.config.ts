import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LIBRARY_MAX_HEAD_BYTES } from '../src/server/http/transports/framing.ts';
import { LongestFilesFirst, sharedProcesses } from './support/shared-processes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The seed of every property, so that a commit always passes or always fails: `npm run test:search` looks for new inputs. */
const SEED = '1';

/** `FC_SEED=…` runs with another seed, and `FC_SEED=random` with a new one each time. */
const given = process.env['FC_SEED'] ?? SEED;
const seed = given === 'random' ? String(randomInt(2 ** 31)) : given;

/** Timeouts end tests that hang; no test depends on them. A search takes `FC_RUNS` times as long. */
const testTimeout = 180_000 * Number(process.env['FC_RUNS'] ?? 1);

/** A test that fails once has failed. */
const TIMES = { testTimeout, hookTimeout: 180_000, expect: { poll: { timeout: 120_000 } }, retry: 0 };

/** As in workers: tests load uWebSockets.js in their own process. */
const LIBRARY_ENV = { UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES) };

/** A project whose tests run the built program with real processes. */
function builtProgram(name: string, fileParallelism = false, more: object = {}): TestProjectInlineConfiguration {
  return { root, test: { name, include: [`test/${name}/**/*.test.ts`], fileParallelism, ...TIMES, ...more } };
}

/**
 * Flags of V8 for processes that run most of their code a few times: it compiles each function at once, optimizes it later, and collects
 * garbage less often. Together, the tests take about a fifth less CPU time.
 */
const QUICK_START = ['--always-sparkplug', '--max-semi-space-size=32'];

/** V8 has the flag for the time of optimization up to Node 20, and refuses to start with a flag that it does not know. */
const NODE_20 = Number.parseInt(process.versions.node, 10) < 22;
if (NODE_20) QUICK_START.push('--interrupt-budget=500000');

/** Half of the time, these files wait for processes and limits. They keep no state in modules, so they can share processes. */
const WAITING_FILES = { maxWorkers: Math.max(6, availableParallelism()), isolate: false };

// `unit` imports the sources; all others run the built program. `npm test` runs `unit` and `e2e`: `browser` needs Chromium, `clock` a
// machine with nothing else to do, `callers` needs the registry of npm, `cluster` needs redis-server and HAProxy, `gateways` needs the gateways that its files name,
// `image` needs root and debootstrap, `telemetry` needs Prometheus, `bundlers`, `doors`, `editors`, `gateways`, `generators`, `manifests`, `package`, `readers` and `site` need `npm ci` in a folder,
// machine with nothing else to do, `cluster` needs redis-server and HAProxy, `gateways` needs the gateways that its files name,
// `image` needs root and debootstrap, `telemetry` needs Prometheus, `bundlers`, `doors`, `editors`, `gateways`, `generators`, `manifests`, `package`, `readers`, `schemas` and `site` need `npm ci` in a folder,
// `manifests` also needs Helm, `readers` also needs pip and curl, and `attacks` and `readers` take minutes.
export default defineConfig({
  test: {
    // Two files at a time, even on one core, because many tests wait for other processes or for timers.
    maxConcurrency: 10,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFilesFirst },
    projects: [
      {
        root,
        // The entry of chevrotain loads 700 files, which takes 0.3 s in each test file.
        resolve: { alias: { chevrotain: `${root}node_modules/chevrotain/lib/chevrotain.min.mjs` } },
        test: {
          name: 'unit',
          globalSetup: ['test/support/print-seed.ts', 'test/support/bundle-threads.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [
            'attacks',
            'e2e',
            'browser',
            'bundlers',
            'calls',
            'callers',
            'clock',
            'cluster',
            'doors',
            'editors',
            'gateways',
            'generators',
            'image',
            'manifests',
            'package',
            'readers',
            'schemas',
            'site',
            'telemetry',
          ].map((name) => `test/${name}/**`),
          // One file more than processors, because many tests wait for time limits or other processes.
          maxWorkers: availableParallelism() + 1,
          env: { ...LIBRARY_ENV, FC_SEED: seed },
          setupFiles: 'test/support/leave-no-trace.ts',
          pool: sharedProcesses,
          execArgv: QUICK_START,
          isolate: false,
          ...TIMES,
        },
      },
      builtProgram('e2e', true, WAITING_FILES),
      builtProgram('attacks', true),
      builtProgram('browser'),
      builtProgram('bundlers'),
      builtProgram('calls'),
      builtProgram('callers'),
      builtProgram('clock', true, { env: LIBRARY_ENV }),
      builtProgram('cluster'),
      builtProgram('doors'),
      builtProgram('editors'),
      builtProgram('gateways'),
      builtProgram('generators'),
      builtProgram('image'),
      builtProgram('manifests'),
      builtProgram('package'),
      builtProgram('readers', false, { env: LIBRARY_ENV }),
      builtProgram('schemas'),
      builtProgram('site'),
      builtProgram('telemetry'),
    ],
  },
});
