import { get } from 'node:http';
import { hostInUrl, isEveryInterface } from '../../config/config.ts';
import type { Invocation } from '../invocation.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/** Docker's own limit is 30 s. A server that needs 3 s for a constant answer is not healthy. */
const TIMEOUT_MS = 3000;

/** `svc healthcheck`: returns 0 if the server on this machine answers /livez. For images without curl. */
export async function healthcheckCommand({ config, terminal }: Invocation): Promise<ExitCode> {
  const url = `http://${reachableHost(config.host)}:${String(config.port)}${config.basePath}/livez`;
  const outcome = await statusOf(url);
  if (outcome === 200) return 0;
  const reason = typeof outcome === 'number' ? `it answered with status ${String(outcome)}` : outcome;
  return reportProblem(terminal, `${url} is not healthy: ${reason}`);
}

/** No name, since a lookup can fail while the server is healthy. */
function reachableHost(host: string): string {
  if (!isEveryInterface(host)) return hostInUrl(host);
  return host === '::' ? '[::1]' : '127.0.0.1';
}

/** The status of the response, or the reason why there is none. */
async function statusOf(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', (error) => resolve(error.message));
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no answer within ${String(TIMEOUT_MS)} ms`)));
  });
}
