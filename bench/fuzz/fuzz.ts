import type { JsonValue } from '../../src/base/json.ts';
import { chargeNatives } from '../../test/support/step-costs.ts';
import { Random } from '../recover/random.ts';
import { Coverage } from './coverage.ts';
import { minimise } from './minimise.ts';
import { mutate } from './mutate.ts';
import { broken, outcomeOf, type Fault, type Outcome, type Target } from './target.ts';

/** Inputs between two samples of the coverage. */
const BATCH = 64;
/** The share of inputs that are new; the others are mutations of inputs in the corpus. */
const NEW_SHARE = 0.2;
/** The most inputs in the corpus; the oldest ones leave it first. */
const MAX_CORPUS = 4_000;

/** A broken invariant, with the smallest input found that breaks it. */
export interface Failure extends Fault {
  readonly input: JsonValue;
  /** Inputs that broke the same invariant. */
  times: number;
}

export interface Findings {
  readonly target: string;
  readonly seed: string;
  readonly inputs: number;
  readonly seconds: number;
  /** Characters of source that the inputs ran (in process), or kinds of results. */
  readonly coverage: number;
  /** The part of it that the initial inputs did not reach. */
  readonly found: number;
  readonly corpus: number;
  readonly failures: readonly Failure[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface FuzzOptions {
  readonly seed: string;
  /** Called after each batch; returns false to stop. */
  goesOn(inputs: number): boolean;
  /** Receives each input before its check, so that an input whose check never returns can be reported. */
  readonly onInput?: (input: JsonValue) => void;
}

/** Feeds a target with random inputs and keeps those that reach something new, to mutate them. */
export async function fuzz<Input extends JsonValue>(target: Target<Input>, options: FuzzOptions): Promise<Findings> {
  const run = new Run(target, options);
  try {
    return await run.run();
  } finally {
    run.end();
  }
}

class Run<Input extends JsonValue> {
  readonly #target: Target<Input>;
  readonly #options: FuzzOptions;
  readonly #random: Random;
  readonly #coverage: Coverage | undefined;
  readonly #traits = new Set<string>();
  readonly #failures = new Map<string, Failure>();
  readonly #corpus: Input[] = [];
  #inputs = 0;
  /** Steps of built-in functions since the last sample, if the target limits steps. */
  #native = 0;
  /** Characters that the inputs since the sample before the last were the first to run. */
  #newlyFound = 0;

  constructor(target: Target<Input>, options: FuzzOptions) {
    this.#target = target;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#coverage = target.covers === undefined ? undefined : new Coverage(target.covers);
  }

  async run(): Promise<Findings> {
    const started = performance.now();
    for (const seed of this.#target.seeds) await this.#tryAll([seed]);
    const reached = this.#reached;
    do await this.#tryAll(Array.from({ length: BATCH }, () => this.#next()));
    while (this.#options.goesOn(this.#inputs));
    return {
      target: this.#target.name,
      seed: this.#options.seed,
      inputs: this.#inputs,
      seconds: Math.round((performance.now() - started) / 1000),
      coverage: this.#reached,
      found: this.#reached - reached,
      corpus: this.#corpus.length,
      failures: [...this.#failures.values()],
      counts: Object.fromEntries(this.#target.counts ?? []),
    };
  }

  end(): void {
    this.#coverage?.end();
  }

  get #reached(): number {
    return this.#coverage?.total ?? this.#traits.size;
  }

  #next(): Input {
    if (this.#corpus.length === 0 || this.#random.chance(NEW_SHARE)) return this.#target.generate(this.#random);
    const { dictionary, free = false } = this.#target;
    let input = this.#random.pick(this.#corpus);
    const donor = this.#random.pick(this.#corpus);
    for (let changes = this.#random.pick([1, 1, 2, 4]); changes > 0; changes -= 1) {
      input = mutate(input, { random: this.#random, dictionary, donor, free });
    }
    return input;
  }

  async #tryAll(inputs: readonly Input[]): Promise<void> {
    this.#inputs += inputs.length;
    const outcomes = await this.#checkAll(inputs);
    const steps = this.#sampleSteps();
    const keep = await this.#newOf(inputs, outcomes);
    for (const [at, { fault }] of outcomes.entries()) {
      const input = inputs[at];
      if (fault !== undefined && input !== undefined) await this.#fail(input, fault);
    }
    await this.#checkSteps(inputs, steps);
    this.#corpus.push(...keep);
    this.#corpus.splice(0, Math.max(0, this.#corpus.length - MAX_CORPUS));
  }

  async #checkAll(inputs: readonly Input[]): Promise<readonly Outcome[]> {
    const { atOnce = 1 } = this.#target;
    const outcomes: Outcome[] = [];
    for (let from = 0; from < inputs.length; from += atOnce) {
      outcomes.push(...(await Promise.all(inputs.slice(from, from + atOnce).map((input) => this.#check(input)))));
    }
    return outcomes;
  }

  async #check(input: Input): Promise<Outcome> {
    this.#options.onInput?.(input);
    if (this.#target.maxSteps === undefined) return outcomeOf(this.#target, input);
    const restore = chargeNatives((units) => (this.#native += units));
    return outcomeOf(this.#target, input).finally(restore);
  }

  /** If a batch took more steps than the limit of one of its inputs, counts the steps of each input. */
  async #checkSteps(inputs: readonly Input[], steps: number): Promise<void> {
    if (inputs.every((input) => steps <= this.#mostSteps(input))) return;
    for (const input of inputs) {
      const { fault } = await this.#checkStepsOf(input);
      if (fault !== undefined) await this.#fail(input, fault, (smaller) => this.#checkStepsOf(smaller));
    }
  }

  async #checkStepsOf(input: Input): Promise<Outcome> {
    this.#sampleSteps();
    await this.#check(input);
    const steps = this.#sampleSteps();
    const most = this.#mostSteps(input);
    return steps <= most ? {} : broken('takes too many steps', `${steps} steps, at most ${most}`);
  }

  #mostSteps(input: Input): number {
    return this.#target.maxSteps?.(input) ?? Infinity;
  }

  /** Returns the steps since the last sample. */
  #sampleSteps(): number {
    const native = this.#native;
    this.#native = 0;
    if (this.#coverage === undefined) return 0;
    this.#newlyFound = this.#coverage.sample(true);
    return Math.round(this.#coverage.lines + native);
  }

  /** Returns the inputs that reached something new; runs parts of the batch again to find them. */
  async #newOf(inputs: readonly Input[], outcomes: readonly Outcome[]): Promise<readonly Input[]> {
    if (this.#coverage === undefined) return inputs.filter((_, at) => this.#isNewTrait(outcomes[at]?.trait));
    if (this.#newlyFound === 0) return [];
    const kept: Input[] = [];
    for (const part of halves(inputs)) {
      await this.#checkAll(part);
      if (part.length === 1 && this.#coverage.sample() > 0) kept.push(...part);
      if (part.length === 1) continue;
      this.#sampleSteps();
      kept.push(...(await this.#newOf(part, [])));
    }
    return kept;
  }

  #isNewTrait(trait = ''): boolean {
    const { size } = this.#traits;
    return this.#traits.add(trait).size > size;
  }

  async #fail(input: Input, fault: Fault, check = (each: Input) => this.#check(each)): Promise<void> {
    const known = this.#failures.get(fault.rule);
    if (known !== undefined) {
      known.times += 1;
      return;
    }
    const fails = async (smaller: Input): Promise<boolean> => (await check(smaller)).fault?.rule === fault.rule;
    const { free = false, minimiseChecks: checks = 3_000 } = this.#target;
    const smallest = await minimise(input, fails, { free, checks });
    const { detail = fault.detail } = (await check(smallest)).fault ?? {};
    this.#failures.set(fault.rule, { rule: fault.rule, detail, input: smallest, times: 1 });
  }
}

function halves<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const half = Math.ceil(items.length / 2);
  return [items.slice(0, half), items.slice(half)].filter((part) => part.length > 0);
}
