// Optimizes a function whose objects exist only during its calls, collects garbage with the collector in `workerData`, and posts whether
// the function has optimized code before and after. A separate thread does no other work, so V8 has no reason to collect again. The
// process needs V8's flags --allow-natives-syntax and --expose-gc.
import { once } from 'node:events';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { runInNewContext, runInThisContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../../../src/server/node-process.ts';

/** `idle` collects as an idle process does, `gc` by gc(). */
export type Collector = 'idle' | 'gc';

export interface OptimizedCode {
  readonly before: boolean;
  readonly after: boolean;
}

/** Bit of %GetOptimizationStatus(): the function has optimized code. V8 of Node 26 has one bit less below it. */
const OPTIMIZED = Number(process.versions.modules) < 147 ? 16 : 8;

const gc = runInNewContext('gc') as () => void;
const isOptimized = optimizedFunction();
const before = isOptimized();
const collected = majorCollection();
if ((workerData as Collector) === 'idle') void collectGarbage();
else gc();
await collected;
const result: OptimizedCode = { before, after: isOptimized() };
parentPort?.postMessage(result, []);

function optimizedFunction(): () => boolean {
  const status = runInThisContext(`(() => {
    class Point { constructor(x) { this.x = x; this.y = { name: String(x) }; } get length() { return this.y.name.length; } }
    const work = (count) => { let sum = 0; for (let i = 0; i < count; i++) sum += new Point(i).length; return sum; };
    %PrepareFunctionForOptimization(work);
    work(100);
    work(100);
    %OptimizeFunctionOnNextCall(work);
    work(100);
    return () => { work(1); return %GetOptimizationStatus(work); };
  })()`) as () => number;
  return () => (status() & OPTIMIZED) > 0;
}

/** Resolves after the next complete collection of this thread. */
async function majorCollection(): Promise<void> {
  const seen = new EventTarget();
  const observer = new PerformanceObserver((list) => {
    const entries = list.getEntries().map((entry) => entry.toJSON() as { detail: { kind: number } });
    const isMajor = entries.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    if (isMajor) seen.dispatchEvent(new Event('major'));
  });
  observer.observe({ entryTypes: ['gc'] });
  // The observer does not keep the thread alive.
  const alive = setInterval(() => undefined, 1_000);
  await once(seen, 'major');
  clearInterval(alive);
  observer.disconnect();
}
