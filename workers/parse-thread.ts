export { runParseTask as default } from '../src/server/parse-task.ts';
