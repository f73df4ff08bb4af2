import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { StoreAddress } from '../../config/store-address.ts';
import { STORE_SCRIPTS, type StoreOperation, type StoreClient } from './store.ts';

/** A store that is silent for this long while it owes an answer gets a new connection: its machine can be gone. */
const SILENCE_MS = 2_000;

/** Attempts to connect: soon after the first failure, and then about once a second, so that svc uses a store again within seconds. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

type CommandName<Operation extends string> = `svc_${Operation}`;

/** The methods that ioredis adds to a client for its scripts. */
type StoreCommands = Readonly<
  Record<CommandName<StoreOperation>, (...args: ReadonlyArray<string | number>) => Promise<unknown>>
>;

/** The connection of ioredis: to one server, to the master that sentinels name, or to a cluster. */
export class RedisClient implements StoreClient {
  readonly #client: Redis | Cluster;
  readonly #commands: StoreCommands;
  #lastError: unknown;
  #reconnectedAt = -Infinity;

  constructor(address: StoreAddress) {
    this.#client = connect(address, (error) => this.#reconnectsOn(error));
    for (const [name, { keys, lua }] of Object.entries(STORE_SCRIPTS)) {
      this.#client.defineCommand(commandName(name), { numberOfKeys: keys, lua });
    }
    this.#commands = this.#client as unknown as StoreCommands;
  }

  get ready(): boolean {
    return this.#client.status === 'ready';
  }

  async run(
    operation: StoreOperation,
    keys: readonly string[],
    args: ReadonlyArray<string | number>,
  ): Promise<unknown> {
    return this.#commands[commandName(operation)](...keys, ...args);
  }

  onChange(listener: (error: unknown) => void): void {
    const client: { on(event: string, listener: (error?: unknown) => void): unknown } = this.#client;
    client.on('ready', () => {
      this.#lastError = undefined;
      listener(undefined);
    });
    // Without a listener for errors, ioredis prints them.
    client.on('error', (error) => {
      this.#lastError = error;
    });
    client.on('close', () => listener(this.#lastError ?? CLOSED));
  }

  close(): void {
    this.#client.disconnect();
  }

  /** After a failover, the old master refuses writes, and the address can lead to the new one. A replica that stays one gets no more than the usual attempts. */
  #reconnectsOn(error: Error): boolean {
    if (!error.message.startsWith('READONLY')) return false;
    this.#lastError = error;
    const now = performance.now();
    if (now - this.#reconnectedAt < LONGEST_RETRY_MS) return false;
    this.#reconnectedAt = now;
    return true;
  }
}

const CLOSED = new Error('CLOSED');

/** The names of scripts could be those of commands. */
function commandName<Operation extends string>(operation: Operation): CommandName<Operation> {
  return `svc_${operation}`;
}

/** The first contact: the server, the sentinels that know it, or nodes of the cluster. */
function connect(address: StoreAddress, reconnectOnError: (error: Error) => boolean): Redis | Cluster {
  const { hosts, cluster, sentinel, sentinelPassword, database: db, tls } = address;
  const options = { ...connectionOptions(address), reconnectOnError };
  if (cluster) {
    const clusterOptions = { enableOfflineQueue: false, clusterRetryStrategy: retryDelay, redisOptions: options };
    return new Cluster([...hosts], clusterOptions);
  }
  if (sentinel === undefined) return new Redis({ ...options, ...hosts[0], db });
  const sentinels = { sentinels: [...hosts], name: sentinel, sentinelRetryStrategy: retryDelay };
  const login = sentinelPassword === undefined ? {} : { sentinelPassword };
  return new Redis({
    ...options,
    ...sentinels,
    ...login,
    db,
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  });
}

function connectionOptions({ username, password, tls }: StoreAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: retryDelay,
    // An operation that is not sent at once, or not answered, has failed: nothing waits for a connection.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    connectionName: 'svc',
  } satisfies RedisOptions;
}

function retryDelay(attempt: number): number {
  const delay = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10));
  // Many machines lose the same store at the same time.
  return delay * (0.5 + Math.random() / 2);
}
