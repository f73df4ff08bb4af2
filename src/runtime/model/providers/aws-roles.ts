import { readFileSync } from 'node:fs';
import { parseJson, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { AWS_REGION } from '../../../schema/providers/aws-bedrock.ts';
import { askService } from '../http/ask-service.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { AwsCredentials } from './aws-signer.ts';
import type { CloudMachine } from './cloud-machine.ts';
import { DEFAULT_LIFE_MS, type Lease } from './renewed-credential.ts';

/** A service that returns keys of the role of this container or machine. */
type AwsRole =
  | { readonly kind: 'container'; readonly url: string; readonly token?: string; readonly tokenFile?: string }
  | { readonly kind: 'machine'; readonly endpoint: string };

/** The hosts of ECS and EKS, and loopback. svc asks every other host for a key only over https. */
const CONTAINER_HOSTS: ReadonlySet<string> = new Set([
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
  '127.0.0.1',
  '[::1]',
  'localhost',
]);

/** The metadata service of Amazon's machines. */
const MACHINE_ENDPOINT = 'http://169.254.169.254';

/** The machine's service answers immediately; a container that cannot reach it gets no answer at all. */
const MACHINE_TIMEOUT_MS = 2000;

/** The role that the variables of the server name (`read` returns their values), or that of Amazon's machine. */
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

/** Gets the role's keys. */
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
    return err('could not get the keys of its role: the answer contains none');
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

/** A token by which AWS recognizes this process, and the role that it can assume: EKS gives both to a pod. */
interface AwsWebIdentity {
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName: string;
  /** The security token service. */
  readonly serviceUrl: string;
}

/** The identity that the variables of the server name; `read` returns their values. */
export function findWebIdentity(
  read: (variable: string) => string | undefined,
  region: string,
): AwsWebIdentity | undefined {
  const tokenFile = read('AWS_WEB_IDENTITY_TOKEN_FILE');
  const roleArn = read('AWS_ROLE_ARN');
  if (tokenFile === undefined || roleArn === undefined) return undefined;
  // A request can choose the region, so svc checks that it is one before the token goes there.
  const ofRegion = AWS_REGION.test(region) ? `https://sts.${region}.amazonaws.com` : '';
  const serviceUrl = read('AWS_ENDPOINT_URL_STS') ?? ofRegion;
  if (!URL.canParse(serviceUrl)) return undefined;
  return { tokenFile, roleArn, sessionName: read('AWS_ROLE_SESSION_NAME') ?? 'svc', serviceUrl };
}

/**
 * Exchanges the token for keys of the role. The request is not signed: the token proves the caller's identity.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export async function fetchWebIdentityCredentials(
  identity: AwsWebIdentity,
  pools: ConnectionPools,
): Promise<Result<Lease<AwsCredentials>, string>> {
  const token = readTokenFile(identity.tokenFile);
  if (token === undefined) return err('cannot read the file that AWS_WEB_IDENTITY_TOKEN_FILE names');
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: identity.roleArn,
    RoleSessionName: identity.sessionName,
    WebIdentityToken: token,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await askService(pools, identity.serviceUrl, { headers, body });
  if (!answer.ok) return err(`could not assume its role "${identity.roleArn}": ${answer.failure}`);
  const lease = readLease(answer.value);
  return lease === undefined
    ? err(`could not assume its role "${identity.roleArn}": the answer contains no keys`)
    : ok(lease);
}

/** The answer is XML of a fixed form, and these values need no unescaping. */
function readLease(xml: string): Lease<AwsCredentials> | undefined {
  const accessKeyId = element(xml, 'AccessKeyId');
  const secretAccessKey = element(xml, 'SecretAccessKey');
  const sessionToken = element(xml, 'SessionToken');
  const end = Date.parse(element(xml, 'Expiration') ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined) return undefined;
  const livesMs = Number.isNaN(end) ? 0 : end - Date.now();
  return { value: { accessKeyId, secretAccessKey, sessionToken }, livesMs };
}

function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]+)</${name}>`, 'u').exec(xml)?.[1];
}

/** The token in a file, which is replaced while a container runs; undefined when it cannot be read. */
function readTokenFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
