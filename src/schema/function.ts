import type { JsonObject } from '../base/json.ts';
import type { Template } from './template.ts';
import type { Type } from './type.ts';

export interface FunctionType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly returns: Type;
  /** The name of the alias that `returns` replaces: a reply can label its value with it. */
  readonly returnsAlias?: string;
  /** The name of a client, or `provider/model` with a provider before the first `/`. */
  readonly client: string;
  readonly prompt: Template;
  readonly documentation?: string;
  /** The arguments of the `test` blocks that name this function. A `Program` has them only for the playground. */
  readonly examples: readonly FunctionExample[];
}

export interface ParameterType {
  readonly name: string;
  readonly type: Type;
}

export interface FunctionExample {
  readonly name: string;
  readonly args: JsonObject;
}

/** A `template_string`, which every template can call by its name. */
export interface TemplateStringType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly template: Template;
}
