import { type JsonValue, isJsonObject } from '../../src/base/json.ts';
import type { Result } from '../../src/base/result.ts';
import { createModelClient, type ClientServices } from '../../src/runtime/model/create-model-client.ts';
import { DeclaredHosts } from '../../src/runtime/model/credential-rule.ts';
import type { ModelReply } from '../../src/runtime/model/wire/reply-format.ts';
import { ConnectionPools } from '../../src/runtime/model/http/connection-pools.ts';
import type { ModelClient } from '../../src/runtime/model/model-client.ts';
import type { AttemptFailure } from '../../src/runtime/model/attempt-failure.ts';
import type { Message } from '../../src/schema/message.ts';
import type { ClientType, OptionValue } from '../../src/schema/client.ts';
import type { Provider } from '../../src/schema/providers/providers.ts';

/** Connections for clients that a test creates itself. Close them at the end of the test. */
export function testServices(): ClientServices & { readonly pools: ConnectionPools } {
  return {
    pools: new ConnectionPools(),
    declaredHosts: new DeclaredHosts([], {}),
    offline: { answer: (name, args) => `${name} ${JSON.stringify(args)}` },
  };
}

/** A definition as the compiler emits it; the string `env.X` stays a string. */
export function clientDefinition(
  provider: Provider,
  options: Readonly<Record<string, JsonValue>>,
  name = 'Tested',
): ClientType {
  return {
    name,
    provider,
    options: Object.entries(options).map(([key, value]) => ({ key, value: optionValue(value) })),
  };
}

function optionValue(value: JsonValue): OptionValue {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item: JsonValue) => optionValue(item)) };
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, member]) => ({ key, value: optionValue(member) }));
    return { kind: 'map', entries };
  }
  return { kind: 'scalar', value: value as string | number | boolean | null };
}

/** The client of a definition; throws if it cannot be created. */
export function makeClient(
  definition: ClientType,
  services: ClientServices,
  env: Readonly<Record<string, string>> = {},
): ModelClient {
  const requester = { environment: { server: env }, privateUrls: true };
  const made = createModelClient({ definition, from: 'files' }, requester, services);
  if (!made.ok) throw new Error(JSON.stringify(made.failure));
  return made.value.client;
}

export interface Asked {
  readonly result: Result<ModelReply, AttemptFailure>;
  readonly deltas: readonly string[];
  /** Milliseconds until the end. */
  readonly ms: number;
}

/** Calls a client and waits for the end. */
export function ask(
  client: ModelClient,
  options: { readonly streamed?: boolean; readonly messages?: readonly Message[]; readonly deadlineMs?: number } = {},
): Promise<Asked> {
  const deltas: string[] = [];
  const startedAt = performance.now();
  return new Promise((resolve) => {
    client.ask(
      {
        functionName: 'Fn',
        args: { a: 1 },
        privateUrls: true,
        messages: options.messages ?? HELLO,
        streamed: options.streamed ?? false,
        deadlineAt: startedAt + (options.deadlineMs ?? 120_000),
      },
      {
        text: (delta) => deltas.push(delta),
        ended: (result) => resolve({ result, deltas, ms: performance.now() - startedAt }),
      },
    );
  });
}

/** One system message. */
const HELLO: readonly Message[] = [{ role: 'system', parts: [{ kind: 'text', text: 'Hello w' }] }];
