import { silentLogger } from '../../src/logging/logger.ts';
import { ClientDirectory } from '../../src/runtime/call/client-directory.ts';
import { prepareCall, type ReadyCall, TargetVariables } from '../../src/runtime/call/prepare-call.ts';
import type { RuntimeOptions } from '../../src/runtime/call/runtime.ts';
import { DeclaredHosts } from '../../src/runtime/model/credential-rule.ts';
import type { AddressGuard } from '../../src/runtime/model/http/address-guard.ts';
import { ConnectionPools, type Destination } from '../../src/runtime/model/http/connection-pools.ts';
import type { HttpCall, OriginPool, ResponseListener } from '../../src/runtime/model/http/origin-pool.ts';
import { clientsOfFiles, singlePlans } from '../../src/runtime/model/strategies/client-plan.ts';
import { indexDefinitions, type Program } from '../../src/schema/program.ts';
import type { Failure } from '../../src/schema/failure.ts';
import { ask } from './ask-client.ts';

/** One request, as it would have gone to the network. */
export interface SentCall {
  readonly origin: string;
  readonly guard: AddressGuard;
  readonly path: string;
  /** Path, headers and body. */
  readonly text: string;
}

/** The outcome of one request to the server. */
export interface RecordedCall {
  /** The requests of all clients that a call could use, including those for tokens. */
  readonly sent: readonly SentCall[];
  /** Why svc refused the request, or did not create one of its clients. */
  readonly failures: readonly Failure[];
}

export interface RecordedRequest {
  readonly program: Program;
  readonly env: Readonly<Record<string, string>>;
  readonly policy?: RuntimeOptions['clientRegistry'];
  readonly allowPrivateUrls?: boolean;
  readonly options?: unknown;
}

/** Calls the first function of a program for a remote caller, on a server without a network. */
export async function recordCall(request: RecordedRequest): Promise<RecordedCall> {
  const pools = new RecordingPools();
  const directory = directoryOf(request, pools);
  const call = prepare(request, directory);
  if (!call.ok) return { sent: [], failures: [call.failure] };
  const failures = await askAll(call.value, directory);
  return { sent: pools.sent, failures };
}

function directoryOf({ program, env }: RecordedRequest, pools: ConnectionPools): ClientDirectory {
  const { clients, shorthands } = clientsOfFiles(program);
  const services = { pools, declaredHosts: new DeclaredHosts(clients, env), offline: { answer: () => '' } };
  return new ClientDirectory({ definitions: indexDefinitions(program), env, services, shorthands });
}

function prepare(request: RecordedRequest, directory: ClientDirectory): ReturnType<typeof prepareCall> {
  const { program, env, policy = 'open', allowPrivateUrls = false, options } = request;
  const services = {
    definitions: indexDefinitions(program),
    directory,
    checkArguments: () => [],
    options: { ...OPTIONS, env, clientRegistry: policy, allowPrivateUrls },
    plans: new Map(),
    targetVariables: new TargetVariables(program.clients),
  };
  const body = options === undefined ? {} : { svc_options: options };
  return prepareCall(services, program.functions[0]?.name ?? '', body, { loaded: undefined, origin: { local: false } });
}

const OPTIONS = {
  logger: silentLogger,
  exposePrompts: false,
  onLoss: 'accept',
  parseElsewhereAbove: Infinity,
  validatorSource: () => '',
} as const;

async function askAll(call: ReadyCall, directory: ClientDirectory): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const { source } of singlePlans(call.plan)) {
    const made = directory.client(source, call.requester);
    if (made.ok) await ask(made.value.client);
    else failures.push(made.failure);
  }
  return failures;
}

/** Pools without a network: every request is recorded, token services answer, and every other request fails. */
class RecordingPools extends ConnectionPools {
  readonly sent: SentCall[] = [];

  override to({ origin, guard }: Destination): OriginPool {
    return {
      send: (call, listener) => {
        const text = [call.path, ...call.headers, call.body].join('\n');
        this.sent.push({ origin, guard, path: call.path, text });
        queueMicrotask(() => answer(call, listener));
        return { pause: () => true, rest: () => true, resume: () => {}, finish: () => {}, cancel: () => {} };
      },
      counts: [],
      close: () => Promise.resolve(),
      destroy: () => Promise.resolve(),
    };
  }
}

/** The token contains the refresh token, so that it counts as the same secret. */
function answer({ path, body }: HttpCall, listener: ResponseListener): void {
  listener.onSent();
  if (path !== '/token') {
    listener.onFailure({ kind: 'network', message: 'has no network' });
    return;
  }
  const token = `token of ${new URLSearchParams(body).get('refresh_token')}`;
  listener.onHeaders(200, { 'content-type': 'application/json' });
  listener.onData(Buffer.from(JSON.stringify({ access_token: token, expires_in: 3600 })));
  listener.onEnd();
}
