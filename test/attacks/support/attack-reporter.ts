import { VerboseReporter, type TestModule } from 'vitest/node';

/** Prints each attack as it ends, the failures, and at last how many attacks were tried and how many the server held. */
export default class AttackReporter extends VerboseReporter {
  override onTestRunEnd(...run: Parameters<VerboseReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...run);
    const states = run[0].flatMap(statesOf).filter((state) => state !== 'skipped');
    this.ctx.logger.log(
      `attacks tried: ${states.length}, held: ${states.filter((state) => state === 'passed').length}`,
    );
  }
}

function statesOf(module: TestModule): readonly string[] {
  return [...module.children.allTests()].map((attack) => attack.result().state);
}
