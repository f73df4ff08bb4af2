// The entry of a parse thread as its TypeScript source says, for tests that run without a build.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
const { runParseTask } = await import('../../../src/server/parse-task.ts');
export default runParseTask;
