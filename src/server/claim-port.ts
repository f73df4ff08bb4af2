import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { err, ok, type Result } from '../base/result.ts';
import { lockFile } from './lock-file.ts';

/** Ports that are ours until `release`. */
export interface PortClaims {
  /** What was asked for, in this order; a 0 became a port. */
  readonly ports: readonly number[];
  readonly release: () => void;
}

/** All ports or none. The failure is a line for the user. */
export async function claimPorts(host: string, ports: readonly number[]): Promise<Result<PortClaims, string>> {
  const claims: PortClaim[] = [];
  const release = () => claims.forEach((claim) => claim.release());
  for (const port of ports) {
    const claim = await claimPort(host, port);
    if (!claim.ok) {
      release();
      return err(`Failed to bind to port ${port}: ${claim.failure}.`);
    }
    claims.push(claim.value);
  }
  return ok({ ports: claims.map((claim) => claim.port), release });
}

/** A port that is ours until `release`. */
export interface PortClaim {
  readonly port: number;
  readonly release: () => void;
}

/** Keeps a second svc from the port. */
type Hold = (host: string, port: number) => Promise<Result<PortClaim, string>>;

/** For port 0: another process may take the port between probe and claim. */
const ATTEMPTS = 5;

/**
 * Makes sure that nobody else serves on a port. Workers share it by SO_REUSEPORT, where a second server of the same
 * user would succeed as well and take half of the connections: so the primary holds an abstract unix socket (Linux) that
 * names the port (a file elsewhere), and tries a listener without SO_REUSEPORT. The failure is the reason, for people.
 */
export async function claimPort(
  host: string,
  port: number,
  platform: NodeJS.Platform = process.platform,
): Promise<Result<PortClaim, string>> {
  const hold = platform === 'linux' ? holdBySocket : holdByFile;
  if (port === 0) return claimAnyPort(host, hold);
  const held = await hold(host, port);
  if (!held.ok) return held;
  const probed = await probe(host, port);
  if (probed.ok) return held;
  held.value.release();
  return probed;
}

async function claimAnyPort(host: string, hold: Hold): Promise<Result<PortClaim, string>> {
  for (let attempt = 1; ; attempt += 1) {
    const probed = await probe(host, 0);
    if (!probed.ok) return probed;
    const held = await hold(host, probed.value);
    if (held.ok || attempt === ATTEMPTS) return held;
  }
}

async function probe(host: string, port: number): Promise<Result<number, string>> {
  const server = createServer();
  const failure = await listen(server, { host, port, exclusive: true });
  if (failure !== undefined) return err(reason(failure, host, port));
  const address: AddressInfo | string | null = server.address();
  await new Promise((resolve) => server.close(resolve));
  return ok(address === null || typeof address === 'string' ? port : address.port);
}

async function holdBySocket(host: string, port: number): Promise<Result<PortClaim, string>> {
  const server = createServer((socket) => socket.destroy());
  const failure = await listen(server, { path: `\0svc-${host}-${port}` });
  if (failure?.code === 'EADDRINUSE') return err(TAKEN);
  server.unref();
  return ok({ port, release: () => server.close() });
}

/** Elsewhere there are no abstract sockets; unlike those, a file can outlive its process. */
async function holdByFile(host: string, port: number): Promise<Result<PortClaim, string>> {
  const release = lockFile(`svc-${host.replaceAll(/[^\w.-]/g, '_')}-${port}.lock`);
  return release === undefined ? err(TAKEN) : ok({ port, release });
}

const TAKEN = 'another svc serves on it';

function listen(server: Server, options: ListenOptions): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(options, () => resolve(undefined));
  });
}

function reason(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'the port is in use by another program';
    case 'EACCES':
      return `no permission: ports below 1024 need a privilege (port ${port})`;
    case 'EADDRNOTAVAIL':
      return `"${host}" is no address of this machine`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host "${host}" is unknown`;
    default:
      return error.message;
  }
}
