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
  /**
   * Keys: the machines, and the clients that cool down. Arguments: this machine, and the milliseconds after which a silent machine is
   * forgotten. Returns the number of machines, and for each client that cools down its name, its value and the milliseconds left.
   */
  beat: {
    keys: 2,
    lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local reply = { redis.call('ZCARD', KEYS[1]) }
local fields = redis.call('HGETALL', KEYS[2])
for index = 1, #fields, 2 do
  local ends, forgotten, value = string.match(fields[index + 1], '^(%d+) (%d+) (.*)$')
  if tonumber(forgotten) <= now then redis.call('HDEL', KEYS[2], fields[index])
  else
    reply[#reply + 1] = fields[index]
    reply[#reply + 1] = ends .. ' ' .. value
    reply[#reply + 1] = tonumber(ends) - now
  end
end
return reply`,
  },
  /**
   * Keys: the clients that cool down. Arguments: a client, this machine, the milliseconds for which the client cools down (0 if its
   * cool-down ends), the reason, and how long a cool-down is kept after its time.
   */
  cool: {
    keys: 1,
    lua: `
if tonumber(ARGV[3]) <= 0 then return redis.call('HDEL', KEYS[1], ARGV[1]) end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + math.ceil(ARGV[3])
local value = string.format('%d %d %s %s', ends, ends + ARGV[5], ARGV[4], ARGV[2])
redis.call('HSET', KEYS[1], ARGV[1], value)
local left = redis.call('PTTL', KEYS[1])
local lifetime = math.ceil(ARGV[3]) + ARGV[5]
if left < lifetime then redis.call('PEXPIRE', KEYS[1], lifetime) end
return 1`,
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
  /**
   * Keys: the window of a limit. Arguments: the units of the limit, the length of the window (a day begins at midnight UTC), the units
   * that this machine took without the store, and the wanted units. Returns the granted and the remaining units, the milliseconds
   * until the end, and the number of the window.
   */
  take: {
    keys: 1,
    lua: `
local limit, length = tonumber(ARGV[1]), tonumber(ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if length == 86400000 then
    local day = math.floor(now / length)
    redis.call('HSET', KEYS[1], 'window', day, 'taken', 0)
    redis.call('PEXPIREAT', KEYS[1], (day + 1) * length)
  else
    redis.call('HSET', KEYS[1], 'window', now, 'taken', 0)
    redis.call('PEXPIRE', KEYS[1], length)
  end
end
local taken = redis.call('HINCRBY', KEYS[1], 'taken', ARGV[3])
local granted = math.max(0, math.min(tonumber(ARGV[4]), limit - taken))
if granted > 0 then taken = redis.call('HINCRBY', KEYS[1], 'taken', granted) end
local window = tonumber(redis.call('HGET', KEYS[1], 'window'))
return { granted, math.max(0, limit - taken), redis.call('PTTL', KEYS[1]), window }`,
  },
  /** Keys: the window of a limit. Arguments: the units that return, and the number of their window. */
  give: {
    keys: 1,
    lua: `
if redis.call('HGET', KEYS[1], 'window') ~= ARGV[2] then return 0 end
local taken = redis.call('HINCRBY', KEYS[1], 'taken', -ARGV[1])
if taken < 0 then redis.call('HSET', KEYS[1], 'taken', 0) end
return 1`,
  },
  /**
   * Keys: the units of a limit that machines hold, such as calls in flight. Arguments: the units of the limit, this machine, the units
   * that it holds, the wanted units, and the milliseconds after which the units of a silent machine are free. Returns the granted
   * and the remaining units.
   */
  hold: {
    keys: 1,
    lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = 0
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
  local units, ends = string.match(fields[index + 1], '^(%d+) (%d+)$')
  if tonumber(ends) <= now then redis.call('HDEL', KEYS[1], fields[index])
  elseif fields[index] ~= ARGV[2] then others = others + tonumber(units) end
end
local held = tonumber(ARGV[3])
local granted = math.max(0, math.min(tonumber(ARGV[4]), tonumber(ARGV[1]) - others - held))
held = held + granted
if held > 0 then
  redis.call('HSET', KEYS[1], ARGV[2], string.format('%d %d', held, now + ARGV[5]))
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
else
  redis.call('HDEL', KEYS[1], ARGV[2])
end
return { granted, math.max(0, tonumber(ARGV[1]) - others - held) }`,
  },
  /**
   * Keys: an answer, and the lock of the call that produces it. Arguments: a token of the caller, and the lifetime of the lock. Returns
   * the answer, the time at which it was kept and the time now; or 1 if the caller has the lock now, and 0 if another one has it.
   */
  claim: {
    keys: 2,
    lua: `
local kept = redis.call('HMGET', KEYS[1], 'answer', 'at')
if kept[1] then
  local time = redis.call('TIME')
  return { kept[1], kept[2], time[1] * 1000 + math.floor(time[2] / 1000) }
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0`,
  },
  /** Keys: as for \`claim\`. Arguments: the token, and the new lifetime of the lock. */
  renew: {
    keys: 2,
    lua: `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[2], ARGV[2])`,
  },
  /** Keys: as for \`claim\`. Arguments: the token, the answer, and its lifetime. The first answer stays. */
  keep: {
    keys: 2,
    lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'answer', ARGV[2], 'at', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1`,
  },
  /** Keys: as for \`claim\`. Arguments: the token. */
  release: {
    keys: 2,
    lua: `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[2])`,
  },
} as const satisfies Readonly<Record<string, StoreScript>>;

export type StoreOperation = keyof typeof STORE_SCRIPTS;
