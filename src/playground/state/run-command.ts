import type { Run } from '../data/run.ts';
import { requestBody, type ClientChoice } from '../data/client-choice.ts';
import type { ServerConnection } from '../server/connection.ts';

/** A command line for a POSIX shell that repeats a run. It contains no keys: the user sets them as variables. */
export function curlCommand(connection: ServerConnection, { args, choice, functionName, mode }: Run): string {
  const client = nameOf(choice);
  const body = requestBody(args, client === undefined ? undefined : { client });
  const flags = mode === 'stream' ? '-sN' : '-s';
  const key = connection.key === '' ? '' : ` -H "x-svc-api-key: $SVC_PASSWORD"`;
  const address = connection.address(`${mode}/${functionName}`);
  return `curl ${flags} ${quoted(address)} -H 'content-type: application/json'${key} -d ${quoted(JSON.stringify(body))}`;
}

/** A client that the user defined contains keys, so the command does not name it. */
function nameOf(choice: ClientChoice): string | undefined {
  return choice.kind === 'named' ? choice.name : undefined;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
