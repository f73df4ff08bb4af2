// A compile thread that answers with its number. A function called "bug" makes it throw, and one called "silent" gets no answer.
import { parentPort, threadId } from 'node:worker_threads';

parentPort.on('message', ({ id, task }) => {
  const { functionName } = task.request ?? task;
  if (functionName === 'bug') throw new Error('a bug of the thread');
  if (functionName !== 'silent') parentPort.postMessage({ id, answer: threadId }, []);
});
