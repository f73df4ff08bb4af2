import { isDeepStrictEqual } from 'node:util';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { replaceFile, writeFault } from '../../base/write-file.ts';
import type { CompileResult } from '../../compiler/compile.ts';
import { SourceFile } from '../../diagnostics/source-file.ts';
import { rightValue, type KeptCall, type SavedTest } from '../../schema/kept-call.ts';
import type { Message } from '../../schema/message.ts';
import { indexDefinitions } from '../../schema/program.ts';
import type { Recordings } from './recordings.ts';
import { testArguments } from './test-arguments.ts';

export interface SavePlan {
  /** The definitions, as they are now. */
  readonly files: readonly SourceFile[];
  readonly compile: (files: readonly SourceFile[]) => CompileResult;
  readonly recordings: Recordings;
}

/**
 * Writes a `test` block with the arguments of a call into a file beside the definitions, and the reply of the model into a recording for
 * `svc test --replay`. If feedback has the right value, the test asserts it. The block is compiled first; the failure is a sentence.
 */
export function saveTest(
  call: KeptCall,
  name: string,
  { files, compile, recordings }: SavePlan,
): Result<SavedTest, string> {
  const { functionName } = call;
  const { program, tests } = compile(files);
  if (program === undefined) return err('The definitions have errors: run "svc check".');
  const fn = program.functions.find((each) => each.name === functionName);
  if (fn === undefined) return err(`The definitions have no function "${functionName}" any more.`);
  const sent = call.content?.args;
  if (!isJsonObject(sent)) return err('The arguments of the call are not kept.');
  const parameters = new Set(fn.parameters.map((parameter) => parameter.name));
  const args = Object.fromEntries(Object.entries(sent).filter(([key]) => parameters.has(key)));
  if (tests.some((test) => test.name === name && test.functions.includes(functionName))) {
    return err(`The function "${functionName}" has a test "${name}" already: choose another name.`);
  }
  const right = rightValue(call);
  const test = testBlock({ name, functionName, args, right });
  const path = savedFile(files);
  const before = files.find((file) => file.path === path);
  const text = before === undefined ? `${test}\n` : `${before.text.trimEnd()}\n\n${test}\n`;
  const file = new SourceFile(path, text);
  const checked = compile([...files.filter((each) => each !== before), file]);
  const written = checked.tests.find((each) => each.name === name && each.functions.includes(functionName));
  const begin = before?.text.length ?? 0;
  const fault = checked.diagnostics.find(({ span }) => span.file === path && span.start >= begin);
  if (checked.program === undefined || written === undefined || fault !== undefined) {
    return err(`The call cannot be written as a test: ${fault?.message ?? 'it does not compile.'}`);
  }
  const read = testArguments(written, fn, { definitions: indexDefinitions(checked.program), env: {} });
  if (!read.ok || !isDeepStrictEqual(read.value, args)) {
    return err('The call cannot be written as a test: the definitions cannot express one of its arguments.');
  }
  try {
    replaceFile(path, text);
    return ok({ test, path, recording: record(call, recordings) });
  } catch (error) {
    return err(`"${path}" cannot be written: ${writeFault(error)}.`);
  }
}

/** Returns the path of the recording; null if a replay of the test would not find it. */
function record(
  { client, content, functionName, modelMs, model, inputTokens, outputTokens }: KeptCall,
  to: Recordings,
): string | null {
  const { prompt, reply } = content ?? {};
  if (client === null || reply === undefined || !Array.isArray(prompt)) return null;
  const messages = prompt as unknown as readonly Message[];
  if (messages.some(({ parts }) => parts.some(({ kind }) => kind !== 'text'))) return null;
  return to.write({ functionName, client, prompt: messages }, 0, {
    text: reply,
    latencyMs: modelMs,
    ...(model !== null && { model }),
    ...(inputTokens !== null && { inputTokens }),
    ...(outputTokens !== null && { outputTokens }),
  });
}

/** The file for saved tests, beside the first definition file and with its extension. */
function savedFile(files: readonly SourceFile[]): string {
  const [first = ''] = files.map(({ path }) => path).toSorted((a, b) => a.split('/').length - b.split('/').length);
  return join(dirname(first), `saved_tests${first.endsWith('.baml') ? '.baml' : '.svc'}`);
}

interface Block {
  readonly name: string;
  readonly functionName: string;
  readonly args: JsonObject;
  readonly right: JsonValue | undefined;
}

function testBlock({ name, functionName, args, right }: Block): string {
  const entries = Object.entries(args).map(([key, value]) => `    ${key} ${valueText(value, '    ')}\n`);
  const lines =
    right === undefined ? [] : assertions(right, 'this').map((condition) => `  @@assert({{ ${condition} }})\n`);
  return `test ${name} {\n  functions [${functionName}]\n  args {\n${entries.join('')}  }\n${lines.join('')}}`;
}

/** Writes a value as definition files have it. */
function valueText(value: JsonValue, indent: string): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => valueText(item as JsonValue, `${indent}  `));
    const line = `[${items.join(', ')}]`;
    return line.length < 80 && !line.includes('\n')
      ? line
      : `[\n${items.map((item) => `${indent}  ${item},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value as JsonObject).map(([key, each]) => {
    const name = /^[A-Za-z_]\w*$/u.test(key) ? key : quoted(key);
    return `${indent}  ${name} ${valueText(each, `${indent}  `)}\n`;
  });
  return entries.length === 0 ? '{}' : `{\n${entries.join('')}${indent}}`;
}

/** Text of several lines, and text with quotes, is easier to read without escapes, but then a line could look like an indent. */
function quoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\0': '\\0', '"': '\\"', '\\': '\\\\' };
  return `"${text.replaceAll(/["\\\n\t\0]/gu, (character) => escapes[character] ?? character)}"`;
}

/** The conditions that hold for this value alone: one for each plain member, and one for each length. */
function assertions(value: JsonValue, path: string): readonly string[] {
  if (value === null) return [`${path} is none`];
  if (typeof value === 'string') return [`${path} == ${quoted(value)}`];
  if (typeof value !== 'object') return [`${path} == ${String(value)}`];
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) => assertions(item as JsonValue, `${path}[${index}]`));
    return [`${path}|length == ${value.length}`, ...items];
  }
  return Object.entries(value as JsonObject).flatMap(([key, each]) => {
    return assertions(each, /^[A-Za-z_]\w*$/u.test(key) ? `${path}.${key}` : `${path}[${quoted(key)}]`);
  });
}
