import cluster from 'node:cluster';
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Shorter texts are no answers of this attack. */
const SHORTEST = 16 * 1024;

/**
 * Loaded into a worker by `--import`: counts the characters of texts that each turn of its event loop encodes or measures, as both
 * transports do with each answer and event that they write. Writes the most of a turn and the sum of all turns to
 * `ATTACK_TURNS.<process id>`.
 */
if (isMainThread && cluster.isWorker) {
  let ofTurn = 0;
  let most = 0;
  let sum = 0;
  const counted = (name) => {
    const original = Buffer[name];
    Buffer[name] = (value, ...more) => {
      if (typeof value === 'string' && value.length >= SHORTEST) {
        if (ofTurn === 0) setImmediate(endTurn);
        ofTurn += value.length;
      }
      return original.call(Buffer, value, ...more);
    };
  };
  const endTurn = () => {
    most = Math.max(most, ofTurn);
    sum += ofTurn;
    ofTurn = 0;
    writeFileSync(`${process.env.ATTACK_TURNS}.${process.pid}`, `${most} ${sum}`);
  };
  counted('from');
  counted('byteLength');
}
