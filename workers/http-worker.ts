import { runWorker } from '../src/server/worker.ts';

runWorker(new URL('parse-thread.js', import.meta.url));
