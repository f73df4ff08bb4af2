import { runCompileThread } from '../src/cli/compile-task.ts';

runCompileThread();
