// Loads the TypeScript source of a compile thread's entry, for tests that run without a build.
import { register } from 'node:module';

register('../server/support/typescript-hooks.mjs', import.meta.url);
await import('../../workers/compile-thread.ts');
