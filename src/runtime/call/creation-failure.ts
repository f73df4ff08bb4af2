import type { ClientFault } from '../model/client-source.ts';
import { clientFailure } from '../model/model-fault.ts';
import type { Failure } from '../../schema/errors.ts';

/** Why a client could not be made, as the failure of a call that needs it. */
export function creationFailure(client: string, fault: ClientFault): Failure {
  if (fault.kind === 'failure') return fault.failure;
  const [first] = fault.faults;
  return clientFailure(client, `is not set up: "${first?.path ?? ''}" ${first?.message ?? ''}`);
}
