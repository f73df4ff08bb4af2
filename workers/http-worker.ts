import { usePlainBind } from '../src/server/plain-bind.ts';
import { runWorker } from '../src/server/worker.ts';

usePlainBind();
runWorker(new URL('parse-thread.js', import.meta.url));
