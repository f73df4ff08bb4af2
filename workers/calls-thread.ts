import { runCallsThread } from '../src/calls/calls-thread.ts';

runCallsThread();
