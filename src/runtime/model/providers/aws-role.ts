import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { parseJson, stringAt } from '../wire/json-reading.ts';
import { askService } from '../http/ask-service.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { CloudMachine } from './cloud-machine.ts';
import { readTokenFile } from './read-token-file.ts';
import { DEFAULT_LIFE_MS } from './renewed-credential.ts';
import type { Lease } from './renewed-credential.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** A service that gives keys of the role that this container or machine runs with. */
export type AwsRole =
  | { readonly kind: 'container'; readonly url: string; readonly token?: string; readonly tokenFile?: string }
  | { readonly kind: 'machine'; readonly endpoint: string };

/** Where ECS and EKS answer, beside loopback and https: a key must not be asked of any other host in the clear. */
const CONTAINER_HOSTS: ReadonlySet<string> = new Set([
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
  '127.0.0.1',
  '[::1]',
  'localhost',
]);

/** Where every machine of Amazon's asks for its role. */
const MACHINE_ENDPOINT = 'http://169.254.169.254';

/** The machine's service answers at once; where a container cannot reach it, nothing ever comes back. */
const MACHINE_TIMEOUT_MS = 2000;

/** The role that the variables of the server name (`read` gives their values), or that of Amazon's machine. */
export function findAwsRole(
  read: (variable: string) => string | undefined,
  machine: CloudMachine | undefined,
): AwsRole | undefined {
  const relative = read('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const url = relative === undefined ? read('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `http://169.254.170.2${relative}`;
  if (url !== undefined && isContainerUrl(url)) {
    const token = read('AWS_CONTAINER_AUTHORIZATION_TOKEN');
    const tokenFile = read('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
    const tokens = { ...(token === undefined ? {} : { token }), ...(tokenFile === undefined ? {} : { tokenFile }) };
    return { kind: 'container', url, ...tokens };
  }
  if (read('AWS_EC2_METADATA_DISABLED')?.toLowerCase() === 'true') return undefined;
  const endpoint = read('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? (machine === 'amazon' ? MACHINE_ENDPOINT : undefined);
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  return { kind: 'machine', endpoint: endpoint.replace(/\/$/u, '') };
}

function isContainerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || (url.protocol === 'http:' && CONTAINER_HOSTS.has(url.hostname));
}

/** The role's keys, until they end. */
export async function fetchRoleCredentials(
  role: AwsRole,
  pools: ConnectionPools,
): Promise<Result<Lease<AwsCredentials>, string>> {
  const answer = role.kind === 'container' ? await askContainer(role, pools) : await askMachine(role.endpoint, pools);
  if (!answer.ok) return err(`could not get the keys of its role: ${answer.failure}`);
  const reply = parseJson(answer.value);
  const accessKeyId = stringAt(reply, 'AccessKeyId');
  const secretAccessKey = stringAt(reply, 'SecretAccessKey');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return err('could not get the keys of its role: the answer holds none');
  }
  const sessionToken = stringAt(reply, 'Token');
  const value = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return ok({ value, livesMs: lifeOf(stringAt(reply, 'Expiration')) });
}

function lifeOf(expiration: string | undefined): number {
  const end = Date.parse(expiration ?? '');
  return Number.isNaN(end) ? DEFAULT_LIFE_MS : end - Date.now();
}

function askContainer(
  role: Extract<AwsRole, { kind: 'container' }>,
  pools: ConnectionPools,
): Promise<Result<string, string>> {
  const token = role.tokenFile === undefined ? role.token : readTokenFile(role.tokenFile);
  const headers = token === undefined ? {} : { authorization: token };
  return askService(pools, role.url, { method: 'GET', headers });
}

/** Version 2 of the instance metadata service: a session, the name of the role, its keys. */
async function askMachine(endpoint: string, pools: ConnectionPools): Promise<Result<string, string>> {
  const session = await askService(pools, `${endpoint}/latest/api/token`, {
    method: 'PUT',
    timeoutMs: MACHINE_TIMEOUT_MS,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' },
  });
  if (!session.ok) return session;
  const headers = { 'x-aws-ec2-metadata-token': session.value };
  const base = `${endpoint}/latest/meta-data/iam/security-credentials/`;
  const roles = await askService(pools, base, { method: 'GET', headers });
  if (!roles.ok) return roles;
  const name = roles.value.split('\n')[0]?.trim() ?? '';
  return askService(pools, base + encodeURIComponent(name), { method: 'GET', headers });
}
