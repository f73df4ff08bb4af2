import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { SettingKey } from '../../config/settings.ts';
import { loadSettings } from '../load-settings.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

const HEALTH_SETTINGS: readonly SettingKey[] = ['host', 'port', 'basePath'];

/** Docker's own limit is 30 s; a server that needs 3 s for a constant answer is not well. */
const TIMEOUT_MS = 3000;

/** `svc healthcheck`: 0 when the server on this machine answers /livez, for images that have no curl. */
export function healthcheckCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('healthcheck').description('ask the server on this machine whether it lives');
  return addSettingOptions(command, HEALTH_SETTINGS).action(async () => {
    const settings = loadSettings(command, HEALTH_SETTINGS, terminal);
    finish('code' in settings ? settings.code : await checkHealth(settings.config, terminal));
  });
}

async function checkHealth(config: Config, terminal: Terminal): Promise<ExitCode> {
  const url = `http://${reachableHost(config.host)}:${String(config.port)}${config.basePath}/livez`;
  const outcome = await statusOf(url);
  if (outcome === 200) return 0;
  const reason = typeof outcome === 'number' ? `it answers ${String(outcome)}` : outcome;
  terminal.error.write(`svc: ${url} is not well: ${reason}\n`);
  return 1;
}

/** The addresses that mean "every interface" are no place to connect to. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** The status, or the reason why there is none. */
async function statusOf(url: string): Promise<number | string> {
  // Loaded here: the other commands begin without it.
  const { get } = await import('node:http');
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', (error) => resolve(error.message));
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no answer within ${String(TIMEOUT_MS)} ms`)));
  });
}
