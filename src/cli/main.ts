import { runProgram } from './program.ts';
import { processTerminal, reportBug } from './terminal.ts';

const terminal = processTerminal();
// Node would print the error with the credentials that its message can contain.
process.on('uncaughtException', (error) => process.exit(reportBug(terminal, error)));
// All programs are bundled into one folder.
const compileThread = new URL('compile-thread.js', import.meta.url);
void main();

async function main(): Promise<void> {
  process.exitCode = await runProgram(process.argv.slice(2), { terminal, compileThread });
}
