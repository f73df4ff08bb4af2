import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** The program that opens an address in the user's browser, and its arguments before the address. No shell reads them. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const OTHER_OPENER = ['xdg-open'] as const;

/** Opens an address in the user's browser. Calls `onFailure` with the reason if that does not work; never throws. */
export function openPage(address: string, onFailure: (reason: string) => void): void {
  const [program, ...args] = OPENERS[platform()] ?? OTHER_OPENER;
  // In a group of its own: Ctrl+C ends svc, not the browser.
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.once('error', () => onFailure(`"${program}" cannot be started`));
  child.once('exit', (code) => {
    if (code !== null && code !== 0) onFailure(`"${program}" ended with exit code ${code}`);
  });
  child.unref();
}
