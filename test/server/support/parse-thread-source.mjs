// Loads the TypeScript source of a parse thread's entry, for tests that run without a build.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
const { runParseTask } = await import('../../../src/server/parse-task.ts');
export default runParseTask;
