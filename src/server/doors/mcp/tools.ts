import type { Prompt, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../../base/json.ts';
import { matchesWildcard } from '../../../base/wildcard.ts';
import {
  choice,
  JsonSchemas,
  MEDIA_BY_URL,
  MEDIA_INLINE,
  objectSchema,
  type View,
} from '../../../schema/json-schema.ts';
import { indexDefinitions, type Definitions, type FunctionType, type ParameterType } from '../../../schema/program.ts';
import { acceptsNull, typeText } from '../../../schema/type-graph.ts';
import type { Type } from '../../../schema/type.ts';

/** A function as a tool, and its rendered prompt as a prompt of the protocol. */
export interface FunctionTool {
  readonly tool: Tool;
  readonly prompt: Prompt;
  readonly parameters: readonly ParameterType[];
  /** The protocol wants an object: a value of any other type is in its member `result`. */
  readonly wrapped: boolean;
}

/** A model answers, which changes nothing, and is outside this machine as a rule. */
const ANNOTATIONS: Tool['annotations'] = { readOnlyHint: true, openWorldHint: true };

const TEXT: JsonObject = { type: 'string' };

/** The tools of the functions whose names match one of the patterns in `selection`, such as `Extract*,Summarize`. */
export function functionTools(definitions: Definitions, selection: string): ReadonlyMap<string, FunctionTool> {
  const patterns = selection.split(',');
  const isSelected = ({ name }: FunctionType): boolean => patterns.some((pattern) => matchesWildcard(pattern, name));
  const schemas = new ToolSchemas(definitions);
  return new Map(definitions.functions.filter(isSelected).map((fn) => [fn.name, toolOf(fn, schemas)]));
}

function toolOf(fn: FunctionType, schemas: ToolSchemas): FunctionTool {
  const { name, documentation, parameters } = fn;
  const described = { name, ...(documentation !== undefined && { description: documentation }) };
  const output = schemas.output(fn.returns);
  const inputSchema = schemas.input(fn) as Tool['inputSchema'];
  const outputSchema = output.schema as Tool['outputSchema'];
  return {
    tool: { ...described, inputSchema, outputSchema, annotations: ANNOTATIONS },
    prompt: { ...described, arguments: parameters.map((parameter) => argumentOf(parameter, schemas)) },
    parameters,
    wrapped: output.wrapped,
  };
}

/** The arguments of prompts are strings. */
function argumentOf({ name, type }: ParameterType, schemas: ToolSchemas): NonNullable<Prompt['arguments']>[number] {
  const required = !schemas.acceptsNull(type);
  return isTextType(type) ? { name, required } : { name, required, description: `JSON of type ${typeText(type)}` };
}

/** True if every value of the type but null is a string. */
export function isTextType(type: Type): boolean {
  switch (type.kind) {
    case 'string':
    case 'enum':
      return true;
    case 'literal':
      return typeof type.value === 'string';
    case 'union':
      return type.members.every((member) => member.kind === 'null' || isTextType(member));
    default:
      return false;
  }
}

/** Schemas that contain all that they refer to. */
class ToolSchemas {
  readonly #aliases: Parameters<typeof acceptsNull>[1];
  readonly #schemas: JsonSchemas;
  /** The names to which the schema under construction refers. */
  readonly #named = new Set<string>();

  constructor(definitions: Definitions) {
    const index = indexDefinitions(definitions);
    this.#aliases = index.aliases;
    this.#schemas = new JsonSchemas(index, {
      named: (name) => {
        this.#named.add(name);
        return { $ref: `#/$defs/${name}` };
      },
      media: () => ({ anyOf: [MEDIA_BY_URL, MEDIA_INLINE] }),
      check: () => objectSchema({ name: TEXT, expression: TEXT, status: choice(['succeeded', 'failed']) }),
      propertyNames: true,
    });
  }

  acceptsNull(type: Type): boolean {
    return acceptsNull(type, this.#aliases);
  }

  input(fn: FunctionType): JsonObject {
    this.#named.clear();
    return this.#whole(this.#schemas.request(fn, {}), 'input');
  }

  output(type: Type): { readonly schema: JsonObject; readonly wrapped: boolean } {
    this.#named.clear();
    let root = this.#schemas.of(type, 'output');
    while (root['$ref'] !== undefined) {
      const [name = ''] = this.#named;
      this.#named.clear();
      root = this.#schemas.definition(name, 'output');
    }
    if (root['type'] === 'object') return { schema: this.#whole(root, 'output'), wrapped: false };
    this.#named.clear();
    const wrapper = objectSchema({ result: this.#schemas.of(type, 'output') });
    return { schema: this.#whole(wrapper, 'output'), wrapped: true };
  }

  #whole(root: JsonObject, view: View): JsonObject {
    const definitions: Record<string, JsonObject> = Object.create(null) as Record<string, JsonObject>;
    // The loop visits the names that it adds.
    for (const name of this.#named) definitions[name] = this.#schemas.definition(name, view);
    return this.#named.size === 0 ? root : { ...root, $defs: definitions };
  }
}
