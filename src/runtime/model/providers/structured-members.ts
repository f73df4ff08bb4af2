import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { StructuredForm } from '../../../schema/providers/structured-output.ts';
import type { StructuredOutput } from '../../../schema/structured-output.ts';
import type { ClientOptions } from '../client-options.ts';

/** Adds the schema of the reply to the members of a request body, in the form of the provider. */
export function withStructure(
  members: JsonObject,
  { structured }: Pick<ClientOptions, 'structured'>,
  output: StructuredOutput | undefined,
): JsonObject {
  if (structured === undefined || output === undefined) return members;
  return { ...members, ...structuredMembers(structured.kind, output, members) };
}

/** The description of the tool, if the class of the reply has none. */
const TOOL_DESCRIPTION = 'Returns the answer.';

function structuredMembers(
  kind: StructuredForm['kind'],
  { name, description = TOOL_DESCRIPTION, schema, strict }: StructuredOutput,
  members: JsonObject,
): JsonObject {
  switch (kind) {
    case 'response-format':
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
    case 'text-format':
      return { text: { ...objectOf(members['text']), format: { type: 'json_schema', name, schema, strict } } };
    case 'response-json-schema': {
      const key = members['generation_config'] === undefined ? 'generationConfig' : 'generation_config';
      const json = { responseMimeType: 'application/json', responseJsonSchema: schema };
      return { [key]: { ...objectOf(members[key]), ...json } };
    }
    case 'tool': {
      const tool = { name, description, input_schema: schema };
      return { tools: [tool], tool_choice: { type: 'tool', name, disable_parallel_tool_use: true } };
    }
    case 'tool-config': {
      const tool = { toolSpec: { name, description, inputSchema: { json: schema } } };
      return { toolConfig: { tools: [tool], toolChoice: { tool: { name } } } };
    }
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
