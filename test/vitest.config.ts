import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Two projects: `unit` reads the sources, `e2e` drives the built program with real processes, one file at a time.
export default defineConfig({
  test: {
    projects: [
      {
        root: fileURLToPath(new URL('..', import.meta.url)),
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**'], testTimeout: 30_000 },
      },
      {
        root: fileURLToPath(new URL('..', import.meta.url)),
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
