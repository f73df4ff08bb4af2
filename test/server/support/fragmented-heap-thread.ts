// Fills the old generation, keeps an object here and there, collects garbage, and posts the bytes that the objects and their pages take.
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { collectGarbage } from '../../../src/server/node-process.ts';

export interface OldSpace {
  /** The objects that are still in use. */
  readonly objects: number;
  readonly usedBytes: number;
  readonly pageBytes: number;
}

const OBJECTS = 400_000;
const KEPT = 37;

const all = Array.from({ length: OBJECTS }, (_, index) => ({ index, name: `object ${index}` }));
const kept = all.filter(({ index }) => index % KEPT === 0);
all.length = 0;
await collectGarbage();
const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
const [usedBytes, pageBytes] = [space?.space_used_size ?? 0, space?.physical_space_size ?? 0];
const result: OldSpace = { objects: kept.length, usedBytes, pageBytes };
parentPort?.postMessage(result, []);
