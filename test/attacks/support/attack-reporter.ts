import { VerboseReporter } from 'vitest/node';

/**
 * Prints each attack as it ends, the failures, and at last how many attacks were tried, how many the server held, and which ones
 * this machine cannot try (some need root).
 */
export default class AttackReporter extends VerboseReporter {
  override onTestRunEnd(...run: Parameters<VerboseReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...run);
    const attacks = run[0].flatMap((module) => [...module.children.allTests()]);
    const skipped = attacks.filter((attack) => attack.result().state === 'skipped');
    const held = attacks.filter((attack) => attack.result().state === 'passed');
    this.ctx.logger.log(
      `attacks tried: ${attacks.length - skipped.length}, held: ${held.length}, skipped: ${skipped.length}`,
    );
    for (const { fullName } of skipped) this.ctx.logger.log(`  skipped: ${fullName}`);
  }
}
