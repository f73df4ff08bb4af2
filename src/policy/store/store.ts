import { randomUUID } from 'node:crypto';
import type { Logger } from '../../logging/logger.ts';
import { codeOf } from '../../base/invariant.ts';

/**
 * `up`: svc uses the store. `slow`: it does not answer within the budget. `full`: it refuses to store more. `down`: there is no
 * connection, or the store refuses every operation. svc uses the store only while it is up.
 */
export type StoreState = 'up' | 'slow' | 'down' | 'full';

export interface StoreHealth {
  readonly state: StoreState;
  /** A code such as ECONNREFUSED; absent while the store is up. */
  readonly reason?: string;
  /** The machines that use the store, this one included, as of the last answer. */
  readonly machines: number;
}

/** Why an operation got no answer from the store. `unavailable`: the store was not up, so svc did not ask it. */
export type StoreFailure = 'timeout' | 'refused' | 'unavailable';

/** Counts operations. `seconds` is absent if svc did not ask the store. */
type StoreObserver = (operation: StoreOperation, seconds?: number, failure?: StoreFailure) => void;

interface StoreOptions {
  readonly prefix: string;
  readonly logger: Logger;
  readonly observe: StoreObserver;
}

/** The time for one operation: a call that waits for a few of them is still fast compared with a model. */
export const BUDGET_MS = 50;

/** One late answer can be an accident, such as a backup that starts. After this many in a row, svc stops asking. */
const TIMEOUTS_UNTIL_SLOW = 3;

/** Each machine announces itself this often, and more often while the store is not up, which is how svc notices its return. */
const BEAT_MS = 1_000;
const PROBE_MS = 250;

/** A machine that was silent for this long is gone. */
const MACHINE_LIFETIME_MS = 10_000;

/** Operations under way: more mean that the store does not keep up. */
const MOST_OPERATIONS = 1_000;

/** Answers with which a store refuses every operation or every write, and the state that they mean. */
const REFUSALS: ReadonlyMap<string, StoreState> = new Map([
  ['OOM', 'full'],
  ['MISCONF', 'full'],
  ['READONLY', 'down'],
  ['LOADING', 'down'],
  ['MASTERDOWN', 'down'],
  ['CLUSTERDOWN', 'down'],
  ['NOREPLICAS', 'down'],
  ['BUSY', 'slow'],
  ['NOAUTH', 'down'],
  ['WRONGPASS', 'down'],
  ['NOPERM', 'down'],
]);

/**
 * The store, with a time budget for each operation and a state that decides whether svc asks it at all. No method throws or
 * rejects. While the store is not up, only the beat reaches it: its answer within the budget brings the store back.
 */
export class Store {
  readonly #client: StoreClient;
  readonly #options: StoreOptions;
  /** Names this machine in the store. */
  readonly machine = randomUUID();
  readonly #listeners: Array<(health: StoreHealth) => void> = [];
  readonly #beatListeners: Array<(reply: readonly unknown[]) => void> = [];
  #health: StoreHealth = { state: 'down', reason: 'connecting', machines: 1 };
  #timeouts = 0;
  #underWay = 0;
  #beating = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(client: StoreClient, options: StoreOptions) {
    this.#client = client;
    this.#options = options;
    client.onChange((error) => this.#connectionChanged(error));
    this.#schedule();
  }

  get health(): StoreHealth {
    return this.#health;
  }

  get up(): boolean {
    return this.#health.state === 'up';
  }

  /** Calls `listener` with each answer to the beat, without the number of machines. */
  onBeat(listener: (reply: readonly unknown[]) => void): void {
    this.#beatListeners.push(listener);
  }

  /** Calls `listener` at each change of the state or its reason. */
  onChange(listener: (health: StoreHealth) => void): void {
    this.#listeners.push(listener);
  }

  /** The key of some data. Keys with the same `tag` are on the same node of a cluster. */
  key(kind: string, tag: string): string {
    return `${this.#options.prefix}:${kind}:{${tag}}`;
  }

  /** The answer of the store to an operation; undefined if there is none within the budget. */
  async run(
    operation: StoreOperation,
    keys: readonly string[],
    args: ReadonlyArray<string | number>,
  ): Promise<unknown> {
    if (this.up && this.#client.ready && this.#underWay < MOST_OPERATIONS) return this.#ask(operation, keys, args);
    this.#options.observe(operation, undefined, 'unavailable');
    return undefined;
  }

  /** Removes this machine from the store, and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.up) await this.#ask('leave', [this.#machines], [this.machine]);
    this.#client.close();
  }

  get #machines(): string {
    return this.key('machines', 'all');
  }

  /** The key of the clients that cool down: on the same node of a cluster as the machines, because the beat reads both. */
  get coolingKey(): string {
    return this.key('cooling', 'all');
  }

  async #ask(
    operation: StoreOperation,
    keys: readonly string[],
    args: ReadonlyArray<string | number>,
  ): Promise<unknown> {
    const started = performance.now();
    this.#underWay += 1;
    const outcome = await this.#inBudget(this.#client.run(operation, keys, args));
    this.#underWay -= 1;
    const seconds = (performance.now() - started) / 1000;
    if (outcome === 'timeout') this.#late();
    else if ('error' in outcome) this.#refused(operation, outcome.error);
    else {
      this.#timeouts = 0;
      this.#options.observe(operation, seconds);
      return outcome.answer;
    }
    this.#options.observe(operation, seconds, outcome === 'timeout' ? 'timeout' : 'refused');
    return undefined;
  }

  #inBudget(running: Promise<unknown>): Promise<Outcome> {
    return new Promise((resolve) => {
      // Timers run before sockets are read: after a pause of this process, an answer can be there already.
      const timer = setTimeout(() => setImmediate(resolve, 'timeout'), BUDGET_MS);
      running
        .then(
          (answer) => resolve({ answer }),
          (error: unknown) => resolve({ error }),
        )
        .finally(() => clearTimeout(timer));
    });
  }

  #late(): void {
    this.#timeouts += 1;
    if (this.#timeouts >= TIMEOUTS_UNTIL_SLOW && this.#client.ready) this.#became('slow', `${BUDGET_MS}ms`);
  }

  /** A node of a cluster can be away while the others work, so a failure alone means nothing, except that of the beat. */
  #refused(operation: StoreOperation, error: unknown): void {
    const code = errorCode(error);
    const state = REFUSALS.get(code);
    if (state !== undefined) this.#became(state, code);
    else if (!this.#client.ready || operation === 'beat') this.#became('down', code);
    else this.#options.logger.debug({ code }, 'the store refused an operation');
  }

  #connectionChanged(error: unknown): void {
    if (this.#closed) return;
    if (error === undefined) void this.#beat();
    else this.#became('down', errorCode(error));
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#beat(), this.up && this.#timeouts === 0 ? BEAT_MS : PROBE_MS).unref();
  }

  async #beat(): Promise<void> {
    if (this.#beating || this.#closed) return;
    this.#beating = true;
    clearTimeout(this.#timer);
    if (this.#client.ready) await this.#announce();
    this.#beating = false;
    this.#schedule();
  }

  async #announce(): Promise<void> {
    const reply = await this.#ask('beat', [this.#machines, this.coolingKey], [this.machine, MACHINE_LIFETIME_MS]);
    if (!Array.isArray(reply) || this.#closed) return;
    const [machines, ...others] = reply as readonly unknown[];
    this.#health = { ...this.#health, machines: Math.max(1, Number(machines)) };
    if (!this.up) this.#became('up');
    for (const listener of this.#beatListeners) listener(others);
  }

  #became(state: StoreState, reason?: string): void {
    const before = this.#health;
    if (before.state === state && before.reason === reason) return;
    this.#timeouts = 0;
    this.#health = { state, machines: before.machines, ...(reason !== undefined && { reason }) };
    const { logger } = this.#options;
    if (state === 'up') logger.info({ machines: before.machines }, 'the store is up');
    else if (before.state !== state || before.reason === 'connecting')
      logger.warn({ state, reason }, DESCRIPTIONS[state]);
    for (const listener of this.#listeners) listener(this.#health);
  }
}

type Outcome = 'timeout' | { readonly answer: unknown } | { readonly error: unknown };

const ON_ITS_OWN = 'this machine goes on with a state of its own';

const DESCRIPTIONS: Readonly<Record<Exclude<StoreState, 'up'>, string>> = {
  slow: `the store does not answer in time: ${ON_ITS_OWN}`,
  full: `the store refuses to store more: ${ON_ITS_OWN}`,
  down: `the store cannot be used: ${ON_ITS_OWN}`,
};

/** A connection that restores itself. */
export interface StoreClient {
  /** Whether the store accepts operations now. */
  readonly ready: boolean;
  /** Runs a script. Rejects with the error of the store or of the connection; the answer of a slow store can take long. */
  run(operation: StoreOperation, keys: readonly string[], args: ReadonlyArray<string | number>): Promise<unknown>;
  /** Calls `listener` when the connection becomes ready, and with the error when it ends or cannot be made. */
  onChange(listener: (error: unknown) => void): void;
  close(): void;
}

/** The code of an error, such as ECONNREFUSED or WRONGPASS. Messages can quote addresses, users and arguments. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = codeOf(error);
  if (code !== undefined) return code;
  if ('lastNodeError' in error && error.lastNodeError !== undefined) return errorCode(error.lastNodeError);
  if (error.message.startsWith('Socket timeout')) return 'ETIMEDOUT';
  return /^-?(?<code>[A-Z]{3,})\b/u.exec(error.message)?.groups?.['code'] ?? 'unknown';
}

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
   * that this machine took without the store, and the most and the least units that it wants. Returns the granted units (0 if fewer than
   * the least are free) and the remaining ones, the milliseconds until the end, and the number of the window. What is taken stays
   * below 2^53, which a double holds exactly.
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
if taken > 9007199254740991 then
  redis.call('HSET', KEYS[1], 'taken', '9007199254740991')
  taken = 9007199254740991
end
local granted = math.min(tonumber(ARGV[4]), limit - taken)
if granted < tonumber(ARGV[5]) then granted = 0 end
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
   * that it holds, the most units that it wants, the milliseconds after which the units of a silent machine are free, and the least
   * units that it wants. Returns the granted units (0 if fewer than the least are free) and the remaining ones.
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
local granted = math.min(tonumber(ARGV[4]), tonumber(ARGV[1]) - others - held)
if granted < tonumber(ARGV[6]) then granted = 0 end
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
