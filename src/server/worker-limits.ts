import type { Config } from '../config/config.ts';
import type { Logger } from '../logging/logger.ts';
import type { Limiter } from '../policy/limiter.ts';
import { minuteWarning } from './minute-warning.ts';
import type { PrimaryLink } from './primary-link.ts';

/** The interval at which unused units go back. */
const SWEEP_MS = 1_000;

interface LimitParts {
  readonly link: Pick<PrimaryLink, 'send' | 'takeUnits'>;
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
      take: (request) => link.takeUnits(request),
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
