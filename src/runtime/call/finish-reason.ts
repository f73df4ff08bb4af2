import type { ModelClient } from '../model/model-client.ts';
import type { Failure } from '../../schema/errors.ts';

/** The failure of a reply that ended for a reason which its client does not accept; undefined when it does. */
export function finishReasonFailure(client: ModelClient, reason: string | undefined): Failure | undefined {
  const rule = client.finishReasons;
  if (rule.kind === 'any' || reason === undefined) return undefined;
  const listed = rule.reasons.includes(reason.toLowerCase());
  if (listed === (rule.kind === 'allow')) return undefined;
  return {
    code: 'finish_reason_error',
    message: `The client "${client.name}" ended its reply for the reason "${reason}", which its definition does not accept`,
    client: client.name,
    finishReason: reason,
  };
}
