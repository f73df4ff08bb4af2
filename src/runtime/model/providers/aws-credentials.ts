import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as CredentialProviderIni from '@aws-sdk/credential-provider-ini';
import { err, ok, type Result } from '../../../base/result.ts';
import { AWS_KEY_VARIABLES, type AWS_BEDROCK } from '../../../schema/providers/aws-bedrock.ts';
import type { OptionValues } from '../../../schema/providers/option-shapes.ts';
import { fetchRoleCredentials, fetchWebIdentityCredentials, findAwsRole, findWebIdentity } from './aws-roles.ts';
import type { AwsCredentials } from './aws-signer.ts';
import type { MissingSecret, ProviderAccess } from './provider.ts';
import { DEFAULT_LIFE_MS, RenewedCredential, type Lease } from './renewed-credential.ts';

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
  const files = profileFiles(access);
  const profile = files === undefined ? undefined : readAwsProfile(files, name);
  if (profile === undefined) return undefined;
  return profile.kind === 'keys' ? profile.keys : renewed(() => fetchProfileCredentials(profile), access);
}

/** Undefined when the server names none, or when they are not for this client's host. */
function profileFiles(access: ProviderAccess): AwsProfileFiles | undefined {
  const home = access.ofServer('HOME');
  const credentials = access.ofServer('AWS_SHARED_CREDENTIALS_FILE') ?? below(home, '.aws/credentials');
  const config = access.ofServer('AWS_CONFIG_FILE') ?? below(home, '.aws/config');
  return credentials === '' && config === '' ? undefined : { credentials, config };
}

function below(home: string | undefined, path: string): string {
  return home === undefined ? '' : join(home, path);
}

/** The files with profiles: `~/.aws/credentials` and `~/.aws/config` unless variables name others. */
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

/** Gets the keys of a profile with Amazon's own package, which nothing else loads. */
export async function fetchProfileCredentials(
  profile: ElsewhereProfile,
  load: () => Promise<ProfileReader> = () => import('@aws-sdk/credential-provider-ini'),
): Promise<Result<Lease<AwsCredentials>, string>> {
  const { name, files } = profile;
  const reader = await loaded(load);
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

async function loaded(load: () => Promise<ProfileReader>): Promise<ProfileReader | undefined> {
  try {
    return await load();
  } catch {
    return undefined;
  }
}
