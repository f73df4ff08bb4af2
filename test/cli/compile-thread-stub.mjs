// A compile thread that answers with its number. A function called "bug" makes it throw.
import { parentPort, threadId } from 'node:worker_threads';

parentPort.on('message', ({ id, task }) => {
  if (task.functionName === 'bug') throw new Error('a bug of the thread');
  parentPort.postMessage({ id, answer: threadId }, []);
});
