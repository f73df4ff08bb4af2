import { hash } from 'node:crypto';
import {
  indexDefinitions,
  type DefinitionIndex,
  type FunctionType,
  type Program,
  type CompileCondition,
} from '../../schema/program.ts';
import { extendDefinitions, type ExtendedTypes, type TypeExtension } from '../../schema/type-extension.ts';
import { createArgumentChecker, type ArgumentChecker } from '../arguments/check-arguments.ts';
import { FunctionValidators, loadValidators, type ArgumentValidators } from '../arguments/load-validators.ts';
import { createPromptRenderer, type PromptRenderer } from '../prompt/create-prompt-renderer.ts';
import { FunctionReplies } from './function-replies.ts';
import { compileChargedCondition } from '../prompt/compile-condition.ts';
import { TemplateFault } from '../prompt/values/work.ts';
import { spend } from '../reply/coerce/step-budget.ts';

/** The types that calls of one function use. */
export interface CallTypes {
  readonly definitions: DefinitionIndex;
  readonly checkArguments: ArgumentChecker;
  readonly renderer: PromptRenderer;
  readonly replies: FunctionReplies;
  /** The types of the request; absent for those of the program alone. */
  readonly extension?: SentExtension;
}

/** An extension for a parse thread, which keeps it under its hash. */
export interface SentExtension {
  readonly hash: string;
  /** JSON text of a `TypeExtension`. */
  readonly json: string;
}

/** Creates the types for calls of a function with the extension of a request. */
export function createExtendedTypes(
  program: Program,
  fn: FunctionType,
  { extension: json, validators: source }: ExtendedTypes,
  programValidators: ArgumentValidators,
): CallTypes {
  const extended = extendDefinitions(program, JSON.parse(json) as TypeExtension);
  const definitions = indexDefinitions(extended);
  const own = source === undefined ? undefined : new FunctionValidators(loadValidators(source));
  const validators = { of: (functionName: string) => own ?? programValidators.of(functionName) };
  const limit = new WorkLimit();
  const check = createArgumentChecker(extended, validators, compileBoundedCondition(limit));
  return {
    definitions,
    checkArguments: (of, args) => {
      limit.reset();
      return check(of, args);
    },
    renderer: createPromptRenderer(extended, () => validators.of(fn.name).createFits()),
    replies: new FunctionReplies(fn, definitions, compileCountedCondition),
    extension: { hash: hash('sha256', json, 'base64url'), json },
  };
}

/** A unit of the work of templates takes up to 300 ns, and a step of coercion about 100 ns. */
const STEPS_PER_UNIT = 3;

/** At most 15 ms. */
const MAX_UNITS = 50_000;

/**
 * Compiles the constraints in the types of a request, for replies. Their work counts as steps of the coercion, because a reply can
 * have thousands of values with the same constraint.
 */
export const compileCountedCondition: CompileCondition = (expression, of) =>
  compileChargedCondition(expression, of, (units) => spend(units * STEPS_PER_UNIT));

/** Compiles the constraints in the types of a request, for arguments. */
function compileBoundedCondition(limit: WorkLimit): CompileCondition {
  return (expression, of) => compileChargedCondition(expression, of, (units) => limit.spend(units));
}

/** Limits the work of all constraints of one argument object, which are checked in the event loop. */
class WorkLimit {
  #left = MAX_UNITS;

  reset(): void {
    this.#left = MAX_UNITS;
  }

  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TemplateFault('the asserts of the arguments take too many steps');
  }
}
