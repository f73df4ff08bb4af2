import { randomInt } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { getSystemErrorName } from 'node:util';
import { codeOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';

/** Ports that no other svc can claim until `release`. */
interface PortClaims {
  /** In the order of the request; each 0 is replaced by a free port. */
  readonly ports: readonly number[];
  readonly release: () => void;
}

/** The flags of the ports that a server claims, in their order. */
const PORT_FLAGS = ['--port', '--metrics-port'] as const;

/** Claims all ports or none: that of the server, and that of its metrics if it has one. The failure is a line for the user. */
export async function claimPorts(host: string, ports: readonly number[]): Promise<Result<PortClaims, string>> {
  const claims: PortClaim[] = [];
  const release = () => claims.forEach((claim) => claim.release());
  for (const [at, port] of ports.entries()) {
    const claim = await claimPort(host, port);
    if (!claim.ok) {
      const advice = isTaken(claim.failure) ? await freePortAdvice(host, ports, PORT_FLAGS[at]) : '';
      release();
      return err(`Failed to bind to port ${port}: ${claim.failure}${advice}.`);
    }
    claims.push(claim.value);
  }
  return ok({ ports: claims.map((claim) => claim.port), release });
}

/** The most ports to try for the advice: they are usually taken by a few servers of the same user. */
const ADVISED_PORTS = 20;

/** Names the next free port, which another program can take before svc starts again. */
async function freePortAdvice(host: string, ports: readonly number[], flag = '--port'): Promise<string> {
  const first = Math.max(...ports) + 1;
  for (let port = first; port < Math.min(first + ADVISED_PORTS, 65_536); port += 1) {
    const claim = await claimPort(host, port);
    if (!claim.ok) continue;
    claim.value.release();
    return `, such as "${flag} ${port}", which is free`;
  }
  return `: "${flag} 0" selects one`;
}

/** A port that no other svc can claim until `release`. */
interface PortClaim {
  readonly port: number;
  readonly release: () => void;
}

/** Keeps another svc from a port. */
type Hold = (host: string, port: number) => Promise<Result<PortClaim, string>>;

/**
 * The range from which port 0 selects. By default, Linux assigns ports from 32768, and macOS and Windows from 49152, to outgoing
 * connections and to programs that request any port: such a port could be taken before the workers listen on it.
 */
const FIRST_SELECTED = 10_000;
const END_OF_SELECTED = 32_768;

/** A selected port can be in use. If half of the ports were, all attempts would fail once in a million starts. */
const ATTEMPTS = 20;

const NONE_FREE = `svc selected ${ATTEMPTS} ports from ${FIRST_SELECTED} to ${END_OF_SELECTED - 1}, and all were in use; choose another port`;

const selectPort = (): number => randomInt(FIRST_SELECTED, END_OF_SELECTED);

/**
 * Makes sure that no other process serves a port. Workers share it through SO_REUSEPORT, with which a second server of the
 * same user would succeed too and receive half of the connections. Therefore the primary holds an abstract Unix socket named
 * after the port (Linux; a lock file elsewhere), and tries a listener without SO_REUSEPORT. The failure is a reason for users.
 *
 * Any user of the machine can take the name of the socket or of the file. svc ignores the claim of another user: the kernel
 * never shares a port between users, so the listener alone decides in this case.
 */
export async function claimPort(
  host: string,
  port: number,
  platform: NodeJS.Platform = process.platform,
  select = selectPort,
): Promise<Result<PortClaim, string>> {
  const hold = platform === 'linux' ? holdBySocket : holdByFile;
  if (port !== 0) return claimGivenPort(host, port, hold);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const claim = await claimGivenPort(host, select(), hold);
    if (claim.ok || !isTaken(claim.failure)) return claim;
  }
  return err(NONE_FREE);
}

async function claimGivenPort(host: string, port: number, hold: Hold): Promise<Result<PortClaim, string>> {
  const held = await hold(host, port);
  if (!held.ok) return held;
  const failure = await probe(host, port);
  if (failure === undefined) return held;
  held.value.release();
  return err(failure);
}

/** Returns the reason why svc cannot listen on the port; undefined if it can. */
async function probe(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  const failure = await listen(server, { host, port, exclusive: true });
  if (failure !== undefined) return reasonOf(failure, host);
  await new Promise((resolve) => server.close(resolve));
  return undefined;
}

async function holdBySocket(host: string, port: number): Promise<Result<PortClaim, string>> {
  const server = createServer((socket) => socket.destroy());
  const name = `svc-${host}-${port}`;
  const failure = await listen(server, { path: `\0${name}` });
  if (failure?.code === 'EADDRINUSE') return isHeldByThisUser(name) ? err(CLAIMED) : ok({ port, release: ignore });
  server.unref();
  return ok({ port, release: () => server.close() });
}

/** For systems without abstract sockets; unlike a socket, a file can outlive its process. */
async function holdByFile(host: string, port: number): Promise<Result<PortClaim, string>> {
  const release = lockFile(`svc-${host.replaceAll(/[^\w.-]/g, '_')}-${port}.lock`);
  return release === undefined ? err(CLAIMED) : ok({ port, release });
}

/**
 * Creates a file that names this process, and returns its removal; undefined when the file names another living process. Two
 * processes that find the file of a dead one at the same moment can both succeed: on Linux, where svc runs in production, no
 * file is used. svc ignores a file of another user.
 */
export function lockFile(name: string): (() => void) | undefined {
  const path = join(tmpdir(), name);
  if (!createFile(path)) {
    if (isForeign(path)) return ignore;
    if (holderIsAlive(path)) return undefined;
    rmSync(path, { force: true });
    if (!createFile(path)) return undefined;
  }
  return () => rmSync(path, { force: true });
}

function createFile(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Does not follow a symbolic link, because the user who created the link claims the name. */
function isForeign(path: string): boolean {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  return owner !== undefined && owner !== process.geteuid?.();
}

function holderIsAlive(path: string): boolean {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return true;
  } catch (error) {
    // EPERM: it is alive and belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

function ignore(): void {}

const CLAIMED = 'another svc process uses it; stop that process, or choose another port';
const USED = 'another program uses it; stop that program, or choose another port';

function isTaken(failure: string): boolean {
  return failure === CLAIMED || failure === USED;
}

function listen(server: Server, options: ListenOptions): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(options, () => resolve(undefined));
  });
}

function reasonOf(error: NodeJS.ErrnoException, host: string): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return USED;
    case 'EACCES':
      return 'permission denied; a port below 1024 needs root or the capability CAP_NET_BIND_SERVICE';
    case 'EADDRNOTAVAIL':
      return `"${host}" is not an address of this machine; listen on one of its addresses, or on 0.0.0.0 for all of them`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name "${host}" cannot be resolved`;
    default:
      return error.message;
  }
}

// --- the owner of a socket -------------------------------------------------------------------------------------------

/**
 * True if a process of this user holds the abstract Unix socket `\0name`. Anyone can bind such a name, and Node does not
 * report who did: the kernel lists the socket in /proc/net/unix, and each process that holds it has a link to it. False if
 * svc cannot determine this, as for a process in another container.
 */
export function isHeldByThisUser(name: string, proc = '/proc'): boolean {
  const links = new Set(inodesOf(name, proc).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return false;
  return tryRead(() => readdirSync(proc), []).some((pid) => /^\d+$/u.test(pid) && holdsAny(join(proc, pid), links));
}

/**
 * Columns: number, references, protocol, flags, type, state, inode, and the path, in which `@` represents a zero byte. Some
 * versions of Node fill the name with zero bytes.
 */
function inodesOf(name: string, proc: string): readonly string[] {
  const lines = tryRead(() => readFileSync(join(proc, 'net/unix'), 'utf8'), '').split('\n');
  return lines
    .map((line) => line.trim().split(' '))
    .flatMap((columns) => {
      const [inode, path] = columns.filter((column) => column !== '').slice(6);
      return path?.replace(/@+$/u, '') === `@${name}` && inode !== undefined ? [inode] : [];
    });
}

/** The links of another user's process are unreadable, except to root. */
function holdsAny(folderOfProcess: string, links: ReadonlySet<string>): boolean {
  if (tryRead(() => statSync(folderOfProcess).uid, -1) !== process.geteuid?.()) return false;
  const folder = join(folderOfProcess, 'fd');
  return tryRead(() => readdirSync(folder), []).some((fd) =>
    links.has(tryRead(() => readlinkSync(join(folder, fd)), '')),
  );
}

/** Processes end, and files close, while they are listed. */
function tryRead<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** A bound socket that several processes accept from. */
export interface SharedPort {
  close(): void;
}

/**
 * The listening sockets of workers on node:http, from which each worker accepts connections itself. The primary binds them,
 * sends them to the workers, and never listens on them. While it holds one, connections wait in the kernel's queue even if no
 * worker is alive, and no exiting worker takes a part of the queue with it. (Under the sharing of node:cluster, the primary
 * closes the socket after its last worker, which resets the connections that arrived since.)
 */
export class SharedPorts {
  readonly #ports = new Map<number, SharedPort>();

  /** Returns the same socket to every worker that asks. Rejects with the reason, for users. */
  async get(host: string, port: number): Promise<SharedPort> {
    let shared = this.#ports.get(port);
    if (shared === undefined) {
      const { address, family } = await lookup(host);
      shared = this.#ports.get(port) ?? bind(address, port, family);
      this.#ports.set(port, shared);
    }
    return shared;
  }

  /** To be called before the workers stop accepting: the last of them then closes the socket while its queue is empty. */
  close(): void {
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
  }
}

/**
 * Node has no public function that binds without listening. node:cluster uses this one; `test/architecture/private-parts.test.ts`
 * checks that it exists.
 */
function bind(address: string, port: number, family: number): SharedPort {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof create !== 'function') throw new Error(`Node ${process.version} cannot share a socket between processes`);
  const bound = create(address, port, family) as SharedPort | number;
  if (typeof bound === 'number') throw new Error(`cannot bind to ${address}:${port}: ${getSystemErrorName(bound)}`);
  return bound;
}
