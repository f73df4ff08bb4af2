import { hash } from 'node:crypto';
import { indexDefinitions, type DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { Program } from '../../schema/program.ts';
import { extendDefinitions, type ExtendedTypes, type TypeExtension } from '../../schema/type-extension.ts';
import { createArgumentChecker, type ArgumentChecker } from '../arguments/check-arguments.ts';
import { FunctionValidators, loadValidators, type ArgumentValidators } from '../arguments/load-validators.ts';
import { createPromptRenderer, type PromptRenderer } from '../prompt/create-prompt-renderer.ts';
import { FunctionReplies } from './function-replies.ts';
import { compileBoundedCondition, compileCountedCondition, WorkLimit } from './request-conditions.ts';

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
