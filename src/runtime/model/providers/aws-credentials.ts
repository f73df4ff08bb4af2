import type * as CredentialProviderIni from '@aws-sdk/credential-provider-ini';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHmac, hash } from 'node:crypto';
import { err, ok, type Result } from '../../../base/result.ts';
import { AWS_KEY_VARIABLES, type AWS_BEDROCK, AWS_REGION } from '../../../schema/providers/aws-bedrock.ts';
import type { OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { MissingSecret, ProviderAccess } from './provider.ts';
import { DEFAULT_LIFE_MS, RenewedCredential, type Lease, type CloudMachine } from './cloud-credential.ts';
import { parseJson, stringAt } from '../../../base/json.ts';
import { askService } from '../http/http-exchange.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';

/** The options of a client about its credentials. */
type CredentialOptions = Pick<
  OptionValues<typeof AWS_BEDROCK.options>,
  'access_key_id' | 'secret_access_key' | 'session_token' | 'profile' | 'region'
>;

/** Keys, or a source that renews them. */
export type AwsCredentialSource = AwsCredentials | RenewedCredential<AwsCredentials>;

/**
 * The client's own keys or profile, the variables of the environment, the default profile, a web identity, or the role
 * of the container or machine: all from one place, never some of each.
 */
export function findAwsCredentials(
  options: CredentialOptions,
  access: ProviderAccess,
): AwsCredentialSource | MissingSecret {
  const found = findSource(options, access);
  if (!('missing' in found) && !(found instanceof RenewedCredential)) hideKeys(found, access);
  return found;
}

function hideKeys({ secretAccessKey, sessionToken, accessKeyId }: AwsCredentials, { hide }: ProviderAccess): void {
  for (const secret of [secretAccessKey, sessionToken, accessKeyId]) if (secret !== undefined) hide(secret);
}

/** Keys that are fetched again before they expire. */
function renewed(
  fetch: () => Promise<Result<Lease<AwsCredentials>, string>>,
  access: ProviderAccess,
): RenewedCredential<AwsCredentials> {
  return new RenewedCredential(async () => {
    const keys = await fetch();
    if (keys.ok) hideKeys(keys.value.value, access);
    return keys;
  });
}

function findSource(options: CredentialOptions, access: ProviderAccess): AwsCredentialSource | MissingSecret {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = options;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return keysOf(accessKeyId, secretAccessKey, sessionToken);
  // A profile that the client names comes before the environment.
  if (options.profile !== undefined) return namedProfile(options.profile, access);
  const found = environmentKeys(access) ?? defaultCredentials(options.region ?? '', access);
  return found ?? { missing: 'AWS_ACCESS_KEY_ID' };
}

function keysOf(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): AwsCredentials {
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

function namedProfile(name: string, access: ProviderAccess): AwsCredentialSource | MissingSecret {
  const missing = 'AWS_SHARED_CREDENTIALS_FILE';
  if (!access.trusted) return { missing, because: "is the server's: a request cannot choose a profile of it" };
  const profile = profileCredentials(name, access);
  return profile ?? { missing, because: `names no file with keys for the profile "${name}"` };
}

function environmentKeys(access: ProviderAccess): AwsCredentials | MissingSecret | undefined {
  const keys = access.secrets(AWS_KEY_VARIABLES);
  const accessKeyId = keys.get('AWS_ACCESS_KEY_ID');
  if (accessKeyId === undefined) return keys.ofRequest ? { missing: 'AWS_ACCESS_KEY_ID' } : undefined;
  const secretAccessKey = keys.get('AWS_SECRET_ACCESS_KEY');
  if (secretAccessKey === undefined) return { missing: 'AWS_SECRET_ACCESS_KEY' };
  return keysOf(accessKeyId, secretAccessKey, keys.get('AWS_SESSION_TOKEN'));
}

/** The credentials of a server without a key in its environment. */
function defaultCredentials(region: string, access: ProviderAccess): AwsCredentialSource | undefined {
  const profile = profileCredentials(access.ofServer('AWS_PROFILE') ?? 'default', access);
  if (profile !== undefined) return profile;
  const identity = findWebIdentity(access.ofServer, region);
  if (identity !== undefined) return renewed(() => fetchWebIdentityCredentials(identity, access.pools), access);
  const role = findAwsRole(access.ofServer, access.machine);
  return role === undefined ? undefined : renewed(() => fetchRoleCredentials(role, access.pools), access);
}

function profileCredentials(name: string, access: ProviderAccess): AwsCredentialSource | undefined {
  const profile = readAwsProfile(profileFiles(access), name);
  if (profile === undefined) return undefined;
  return profile.kind === 'keys' ? profile.keys : renewed(() => fetchProfileCredentials(profile), access);
}

/** Empty paths when the server names none, or when they are not for this client's host. */
function profileFiles({ ofServer }: ProviderAccess): AwsProfileFiles {
  const home = ofServer('HOME');
  const below = (path: string): string => (home === undefined ? '' : join(home, path));
  return {
    credentials: ofServer('AWS_SHARED_CREDENTIALS_FILE') ?? below('.aws/credentials'),
    config: ofServer('AWS_CONFIG_FILE') ?? below('.aws/config'),
  };
}

interface AwsProfileFiles {
  readonly credentials: string;
  readonly config: string;
}

/** A profile contains keys, or a way to get them. */
type AwsProfile = { readonly kind: 'keys'; readonly keys: AwsCredentials } | ElsewhereProfile;

/** Single sign-on, a role to assume, or a program that prints keys. */
interface ElsewhereProfile {
  readonly kind: 'elsewhere';
  readonly name: string;
  readonly files: AwsProfileFiles;
}

/** Settings of profiles without keys of their own. */
const ELSEWHERE = ['sso_session', 'sso_start_url', 'credential_process', 'login_session'];

/**
 * A profile of the files that AWS's tools share (INI, as `aws configure` writes it). Undefined when neither
 * file is readable and has such a profile with a way to get keys. svc reads the files once, when it creates their client.
 */
export function readAwsProfile(files: AwsProfileFiles, name: string): AwsProfile | undefined {
  const values = new Map([...profileValues(files.config, name), ...profileValues(files.credentials, name)]);
  const elsewhere = { kind: 'elsewhere', name, files } as const;
  // A role comes before keys: these can be the ones with which the role is assumed.
  if (values.has('role_arn')) return elsewhere;
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return ELSEWHERE.some((setting) => values.has(setting)) ? elsewhere : undefined;
  }
  return { kind: 'keys', keys: keysOf(accessKeyId, secretAccessKey, values.get('aws_session_token')) };
}

function profileValues(path: string, profile: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let inside = false;
  for (const line of linesOf(path)) {
    const section = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/u.exec(line);
    if (section !== null) inside = section[1] === profile;
    const at = line.indexOf('=');
    if (inside && at > 0) values.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return values;
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split(/\r?\n/u)
      .filter((line) => !/^\s*[#;]/u.test(line));
  } catch {
    return [];
  }
}

/** Amazon's own reader of such profiles: 16 MB that few users need, so those who do install it beside svc. */
const PACKAGE = '@aws-sdk/credential-provider-ini';

type ProfileReader = Pick<typeof CredentialProviderIni, 'fromIni'>;

async function loadReader(): Promise<ProfileReader | undefined> {
  // Bundlers accept that a package is missing if the import itself is in a `try`.
  try {
    return await import('@aws-sdk/credential-provider-ini');
  } catch {
    return undefined;
  }
}

/** Gets the keys of a profile with Amazon's own package, which nothing else loads. */
export async function fetchProfileCredentials(
  profile: ElsewhereProfile,
  load: () => Promise<ProfileReader | undefined> = loadReader,
): Promise<Result<Lease<AwsCredentials>, string>> {
  const { name, files } = profile;
  const reader = await load();
  if (reader === undefined) {
    return err(
      `needs the package ${PACKAGE} for its AWS profile "${name}", which signs in or assumes a role. Install it beside svc, or use a profile with keys`,
    );
  }
  try {
    const provider = reader.fromIni({ profile: name, filepath: files.credentials, configFilepath: files.config });
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provider();
    const value = keysOf(accessKeyId, secretAccessKey, sessionToken);
    return ok({ value, livesMs: expiration === undefined ? DEFAULT_LIFE_MS : expiration.getTime() - Date.now() });
  } catch {
    // The package's message can contain the whole command line of a program that prints keys.
    return err(
      `could not get the keys of its AWS profile "${name}". On the server, "aws sts get-caller-identity --profile ${name}" shows why`,
    );
  }
}

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
async function fetchRoleCredentials(
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
  const end = Date.parse(stringAt(reply, 'Expiration') ?? '');
  const livesMs = Number.isNaN(end) ? DEFAULT_LIFE_MS : end - Date.now();
  return ok({ value: keysOf(accessKeyId, secretAccessKey, stringAt(reply, 'Token')), livesMs });
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
function findWebIdentity(read: (variable: string) => string | undefined, region: string): AwsWebIdentity | undefined {
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
async function fetchWebIdentityCredentials(
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

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface AwsRequest {
  readonly host: string;
  /** As in the request: encoded once. */
  readonly path: string;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  /** Names in lower case. The signer adds `host` and the date. */
  readonly headers: Readonly<Record<string, string>>;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signs POSTs, version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
export class AwsSigner {
  #scope = '';
  #secret = '';
  #key: Buffer = Buffer.alloc(0);

  /** Returns the headers that the signature adds to a request. */
  sign(request: AwsRequest, credentials: AwsCredentials, now: Date = new Date()): Readonly<Record<string, string>> {
    const time = now.toISOString().replace(/[-:]|\.\d{3}/gu, '');
    const token = credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken };
    const signed = { ...request.headers, host: request.host, 'x-amz-date': time, ...token };
    const names = Object.keys(signed).toSorted();
    const scope = `${time.slice(0, 8)}/${request.region}/${request.service}/aws4_request`;
    const text = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonicalRequest(request, names, signed))}`;
    const signature = hmac(this.#keyFor(scope, credentials.secretAccessKey), text).toString('hex');
    const credential = `Credential=${credentials.accessKeyId}/${scope}`;
    return {
      'x-amz-date': time,
      ...token,
      authorization: `${ALGORITHM} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    };
  }

  /** The key of a scope is valid for the whole day; its derivation takes an HMAC for each part of the scope. */
  #keyFor(scope: string, secret: string): Buffer {
    if (scope !== this.#scope || secret !== this.#secret) {
      this.#key = scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`));
      this.#scope = scope;
      this.#secret = secret;
    }
    return this.#key;
  }
}

function canonicalRequest(
  request: AwsRequest,
  names: readonly string[],
  headers: Readonly<Record<string, string>>,
): string {
  const [path = '/', query = ''] = request.path.split('?');
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim()}\n`).join('');
  return `POST\n${canonicalPath(path)}\n${query}\n${lines}\n${names.join(';')}\n${hash('sha256', request.body)}`;
}

/** Every service except S3 signs the path with each segment encoded again. */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*]/gu, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
