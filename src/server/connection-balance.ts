/** The load of a worker, as of its last heartbeat. */
export interface ConnectionLoad {
  /** Open connections of clients. */
  readonly connections: number;
  /** The fraction of the time since the previous heartbeat that its event loop was busy, from 0 to 1. */
  readonly busy: number;
}

/** Below this, a worker has room for its connections, and closing some of them would only cost their clients a round trip. */
const BUSY = 0.5;

/** A surplus of up to this fraction of the mean stays: connections come and go. */
const TOLERANCE = 0.1;

/**
 * The number of connections that a worker should hand over to the others. The kernel distributes new connections by a hash and never
 * moves them, so one worker can have most of the few that a gateway keeps, and a worker that replaces another one has none.
 */
export function surplusConnections(own: ConnectionLoad, all: readonly ConnectionLoad[]): number {
  if (own.busy < BUSY || all.length < 2) return 0;
  const mean = all.reduce((sum, { connections }) => sum + connections, 0) / all.length;
  const surplus = own.connections - mean;
  return surplus > mean * TOLERANCE ? Math.floor(surplus) : 0;
}

/** Measures how busy the event loop of this process is. */
export class BusyTime {
  #before = performance.eventLoopUtilization();

  /** The busy fraction of the time since the last call, from 0 to 1. */
  take(): number {
    const before = this.#before;
    this.#before = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(this.#before, before).utilization;
  }
}
