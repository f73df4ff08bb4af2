import type { TestProject } from 'vitest/node';

/** Runs once before the tests of a project: states the seed that repeats their properties. */
export default function printSeed({ config }: TestProject): void {
  console.info(`Properties run with FC_SEED=${String(config.env['FC_SEED'])}.`);
}
