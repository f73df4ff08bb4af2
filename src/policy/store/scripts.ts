/** A Lua script that the store runs as one step. */
interface StoreScript {
  /** The number of keys; the keys of one call share a hash tag, so that a cluster finds them on one node. */
  readonly keys: number;
  readonly lua: string;
}

/**
 * Every operation of svc in the store. Scripts use the clock of the store, so the clocks of machines do not matter. They are
 * documented in docs/store.md.
 */
export const STORE_SCRIPTS = {
  /** Keys: the machines. Arguments: this machine, and the milliseconds after which a silent machine is forgotten. Returns the number of machines. */
  beat: {
    keys: 1,
    lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`,
  },
  /** Keys: the machines. Arguments: this machine, which stops. */
  leave: { keys: 1, lua: `return redis.call('ZREM', KEYS[1], ARGV[1])` },
  /** Keys: the counter of a round-robin client. Arguments: how many turns to take, and the lifetime of the counter. Returns the turn after the last one. */
  turns: {
    keys: 1,
    lua: `
local last = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return last`,
  },
} as const satisfies Readonly<Record<string, StoreScript>>;

export type StoreOperation = keyof typeof STORE_SCRIPTS;
