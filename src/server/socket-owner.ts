import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * True if a process of this user holds the abstract Unix socket `\0name`. Anyone can bind such a name, and Node does not
 * report who did: the kernel lists the socket in /proc/net/unix, and each process that holds it has a link to it. False if
 * svc cannot determine this, as for a process in another container.
 */
export function isHeldByThisUser(name: string, proc = '/proc'): boolean {
  const links = new Set(inodesOf(name, proc).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return false;
  return attempt(() => readdirSync(proc), []).some((pid) => /^\d+$/u.test(pid) && holdsAny(join(proc, pid), links));
}

/**
 * Columns: number, references, protocol, flags, type, state, inode, and the path, in which `@` represents a zero byte. Some
 * versions of Node fill the name with zero bytes.
 */
function inodesOf(name: string, proc: string): readonly string[] {
  const lines = attempt(() => readFileSync(join(proc, 'net/unix'), 'utf8'), '').split('\n');
  return lines
    .map((line) => line.trim().split(' '))
    .flatMap((columns) => {
      const [inode, path] = columns.filter((column) => column !== '').slice(6);
      return path?.replace(/@+$/u, '') === `@${name}` && inode !== undefined ? [inode] : [];
    });
}

/** The links of another user's process are unreadable, except to root. */
function holdsAny(folderOfProcess: string, links: ReadonlySet<string>): boolean {
  if (attempt(() => statSync(folderOfProcess).uid, -1) !== process.geteuid?.()) return false;
  const folder = join(folderOfProcess, 'fd');
  return attempt(() => readdirSync(folder), []).some((fd) =>
    links.has(attempt(() => readlinkSync(join(folder, fd)), '')),
  );
}

/** Processes end, and files close, while they are listed. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
