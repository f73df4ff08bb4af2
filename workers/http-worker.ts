import { usePlainBind } from '../src/server/node-process.ts';
import { runWorker } from '../src/server/worker.ts';

usePlainBind();
runWorker(new URL('parse-thread.js', import.meta.url));
