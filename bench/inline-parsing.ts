// `--import` loads this file into the workers of a server: it parses large replies inline, for comparison with the thread pool.
import { err } from '../src/base/result.ts';
import { validationFailure } from '../src/runtime/call/parse-reply.ts';
import { ParsePool } from '../src/server/parse-pool.ts';
import { runParseTask } from '../src/server/parse-task.ts';
import type { PrimaryMessage } from '../src/server/protocol.ts';

let programPath = '';

if (process.send !== undefined) {
  process.on('message', (message: PrimaryMessage) => {
    if (message.type === 'start') programPath = message.programPath;
  });
}

ParsePool.prototype.parse = ({ functionName, text }) => {
  const result = runParseTask({ programPath, functionName, text, wrapped: false, explain: false });
  if (!result.ok) return Promise.resolve(err(validationFailure(result.failure, text)));
  const { json, flags, losses } = result;
  return Promise.resolve({ ok: true, value: { json, flags, losses, value: null } });
};
