import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { waitUntil } from '../support/load.ts';

/** One series of an answer of Prometheus. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Its newest sample. */
  readonly value: readonly [at: number, value: string];
}

interface ExemplarSeries {
  readonly exemplars: ReadonlyArray<{ readonly labels: Readonly<Record<string, string>> }>;
}

interface Answer<Data> {
  readonly status: string;
  readonly data: Data;
  readonly error?: string;
}

/** The state of a target, as `/api/v1/targets` reports it. */
interface Target {
  readonly health: string;
  readonly lastError: string;
}

/** A Prometheus of the operating system, which scrapes one server. */
export class PrometheusProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #url: string;

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.#url = url;
  }

  /** Starts with a configuration, in which TARGET is the address of the server. Resolves once it answers. */
  static async start(configuration: string, target: string): Promise<PrometheusProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, configuration.replaceAll('TARGET', target));
    const port = await freePort();
    const flags = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ];
    const child = spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok || exited(child, output),
        () => exited(child, output),
      );
    await waitUntil('Prometheus to be ready', ready);
    return new PrometheusProcess(child, folder, url);
  }

  async targets(): Promise<readonly Target[]> {
    return (await this.#get<{ readonly activeTargets: readonly Target[] }>('targets')).activeTargets;
  }

  /** The series that a query selects now. Throws if Prometheus rejects the query. */
  async query(query: string): Promise<readonly Series[]> {
    return (await this.#get<{ readonly result: readonly Series[] }>('query', { query })).result;
  }

  /** The trace ids of the exemplars of a metric within the last hour. */
  async traceIds(query: string): Promise<readonly string[]> {
    const now = Date.now() / 1000;
    const found = await this.#get<readonly ExemplarSeries[]>('query_exemplars', {
      query,
      start: String(now - 3600),
      end: String(now + 60),
    });
    return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels['trace_id'] ?? ''));
  }

  /** The names of all metrics. */
  names(): Promise<readonly string[]> {
    return this.#get('label/__name__/values');
  }

  async stop(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> {
    const response = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const answer = (await response.json()) as Answer<Data>;
    if (answer.status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${answer.error ?? answer.status}`);
    return answer.data;
  }
}

function exited({ exitCode }: ChildProcess, output: string): false {
  if (exitCode !== null) throw new Error(`Prometheus exited with ${exitCode}:\n${output}`);
  return false;
}

/** Runs promtool. Throws if it is not installed. */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly code: number | null; readonly output: string } {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) throw new Error('promtool is missing: run apt-get install prometheus', { cause: error });
  return { code: status, output: `${stdout}${stderr}` };
}
