// Entry file: BAML's parser in a process of its own, because a reply can crash or stop it. It receives the definitions,
// then one reply after another, and returns what it reads.
import { createRequire } from 'node:module';
import { CLIENT_FILE, type BamlAnswer, type BamlMessage } from './baml-side.ts';

/** The package has types of its own, but it is not installed for every build. */
interface BamlRuntime {
  createContextManager(): unknown;
  parseLlmResponse(...args: readonly unknown[]): unknown;
}

interface BamlPackage {
  readonly BamlRuntime: { fromFiles(root: string, files: object, env: object): BamlRuntime };
}

const load = createRequire(new URL('../../../bench/package.json', import.meta.url));
let parse: ((functionName: string, reply: string) => unknown) | undefined;

process.on('message', (message: BamlMessage) => {
  if (message.type === 'definitions') parse = parserOf(message.text);
  else process.send?.(answerTo(message.functionName, message.reply));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

function parserOf(definitions: string): (functionName: string, reply: string) => unknown {
  const { BamlRuntime } = load('@boundaryml/baml/native') as BamlPackage;
  const runtime = BamlRuntime.fromFiles('baml_src', { [CLIENT_FILE]: definitions }, {});
  const context = runtime.createContextManager();
  return (functionName, reply) => runtime.parseLlmResponse(functionName, reply, false, context, null, null, {});
}

function answerTo(functionName: string, reply: string): BamlAnswer {
  try {
    return { ok: true, json: JSON.stringify(parse?.(functionName, reply)) ?? 'null' };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
