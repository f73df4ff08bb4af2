import { InternalError } from '../../base/invariant.ts';
import type { Result } from '../../base/result.ts';
import { err } from '../../base/result.ts';
import type { ClientSource } from '../model/client-source.ts';
import type { ClientPlan } from '../model/strategies/client-plan.ts';
import type { Message } from '../../schema/message.ts';
import { uncreatedClientFailure } from '../model/attempt-failure.ts';
import type { Failure } from '../../schema/errors.ts';
import type { RunServices } from './function-run.ts';
import type { ReadyCall } from './prepare-call.ts';

/** The messages for the client that a call would ask first. Nothing is sent, and no turn is counted. */
export function firstPrompt(services: RunServices, call: ReadyCall): Result<readonly Message[], Failure> {
  const source = firstClient(call.plan);
  const made = services.directory.client(source, call.requester);
  if (!made.ok) return err(uncreatedClientFailure(source.definition.name, made.failure));
  return services.renderer.render(call.functionName, call.args, made.value.client.prompt);
}

function firstClient(plan: ClientPlan): ClientSource {
  if (plan.kind === 'single') return plan.source;
  const start = plan.kind === 'round-robin' ? plan.start % plan.members.length : 0;
  const member = plan.members[start];
  return member === undefined ? unreachableMember(plan.name) : firstClient(member);
}

function unreachableMember(name: string): never {
  throw new InternalError(`the strategy client ${name} has no members`);
}
