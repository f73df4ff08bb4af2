import type { JsonObject } from '../base/json.ts';
import type { Template } from './template.ts';
import type { Type } from './type.ts';

export interface FunctionType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly returns: Type;
  /** A client's name, or `provider/model`: the part before the first `/` is then a provider. */
  readonly client: string;
  readonly prompt: Template;
  readonly documentation?: string;
  /** Argument objects of the `test` blocks that name this function, for the OpenAPI examples. */
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

/** A `template_string`: callable from every template by its name. */
export interface TemplateStringType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly template: Template;
}
