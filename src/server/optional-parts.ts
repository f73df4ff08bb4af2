// Parts of a worker that most servers do not use. Only this file loads their code, and only if they are enabled.
import type { Config } from '../config/config.ts';
import type { ServiceLogger } from '../logging/create-logger.ts';
import type { Logger } from '../logging/logger.ts';
import type { Redactor } from '../logging/redactor.ts';
import type { Limiter } from '../policy/limiter.ts';
import { missingCredentials } from '../runtime/model/create-model-client.ts';
import type { Program } from '../schema/program.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { ProgramPlayground, type Playground } from './http/playground/playground.ts';
import { minuteWarning } from './kept-answers.ts';
import type { PrimaryLink } from './primary-link.ts';
import type { StartMessage } from './protocol.ts';

/** The interval at which a worker returns unused units. */
const SWEEP_MS = 1_000;

interface LimitParts {
  readonly link: Pick<PrimaryLink, 'send' | 'ask'>;
  readonly logger: Logger;
  /** Called when the primary does not answer. */
  readonly onFailure: () => void;
}

/** Loads the code of limits and creates the limiter of a worker; undefined without a key file. */
export async function loadLimiter({ keyFile, workers }: Config, parts: LimitParts): Promise<Limiter | undefined> {
  if (keyFile === undefined) return undefined;
  const [{ Leases }, { Limiter: Loaded }] = await Promise.all([
    import('../policy/leases.ts'),
    import('../policy/limiter.ts'),
  ]);
  const { link, logger, onFailure } = parts;
  const warn = minuteWarning(
    logger,
    'the primary does not count limits of callers; each worker keeps to its own share',
  );
  const leases = new Leases({
    workers,
    source: {
      take: (request) => link.ask({ type: 'take-units', request }),
      give: (units) => link.send({ type: 'give-units', units }),
    },
    onFailure: (error) => {
      onFailure();
      warn(error);
    },
  });
  setInterval(() => leases.sweep(), SWEEP_MS).unref();
  return new Loaded(leases, keyFile.defaultLimits);
}

/** Loads telemetry and the OpenTelemetry packages; undefined if it is off. */
export async function loadTelemetry(
  { config, number, version }: StartMessage,
  logger: ServiceLogger,
  redactor: Redactor,
): Promise<Telemetry | undefined> {
  if (config.telemetry === undefined) return undefined;
  const { Telemetry: Loaded } = await import('../telemetry/telemetry.ts');
  return new Loaded(config.telemetry, { logger, version, worker: number, redact: (text) => redactor.redact(text) });
}

/** Loads the code and the files of the playground. */
export async function loadPlayground({ config, version }: StartMessage, program: Program): Promise<Playground> {
  const names = program.clients.map(({ name }) => name);
  const missing = missingCredentials(program, config.env, names).map(
    ({ client, variable }) => [client, variable] as const,
  );
  const { describeProgram } = await import('./http/playground/describe-program.ts');
  const { clientRegistry, title } = config;
  const facts = { title, version, clientRegistry, missing: new Map(missing) };
  return new ProgramPlayground(() => describeProgram(program, facts));
}
