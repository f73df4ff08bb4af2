import { join } from 'node:path';
import { fetchProfileCredentials } from './aws-profile-package.ts';
import { readAwsProfile } from './aws-profile.ts';
import type { AwsProfileFiles } from './aws-profile.ts';
import { fetchRoleCredentials, findAwsRole } from './aws-role.ts';
import { fetchWebIdentityCredentials, findWebIdentity } from './aws-web-identity.ts';
import type { MissingSecret, ProviderAccess } from './provider.ts';
import { RenewedCredential } from './renewed-credential.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** Holds a Bedrock API key, which goes out as it is: nothing is signed then. */
export const BEARER_TOKEN = 'AWS_BEARER_TOKEN_BEDROCK';

/** Keys in the environment: all of one account. */
export const AWS_KEY_VARIABLES = [BEARER_TOKEN, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/** Variables that decide whose keys are taken. */
export const AWS_CREDENTIAL_VARIABLES = [
  ...AWS_KEY_VARIABLES,
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_ENDPOINT_URL_STS',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
  'HOME',
];

/** What a client says of its credentials in its own options. */
export interface AwsClientCredentials {
  readonly keys: Partial<AwsCredentials>;
  readonly profile: string | undefined;
  readonly region: string;
}

/** Keys, or where they come from again and again. */
export type AwsCredentialSource = AwsCredentials | RenewedCredential<AwsCredentials>;

/**
 * The client's own keys or profile, the variables of the environment, the default profile, a web identity, or the role
 * of the container or machine: all of one place, never one of each.
 */
export function findAwsCredentials(
  client: AwsClientCredentials,
  access: ProviderAccess,
): AwsCredentialSource | MissingSecret {
  const { accessKeyId, secretAccessKey } = client.keys;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { ...client.keys, accessKeyId, secretAccessKey };
  }
  // A profile that the client names comes before the environment.
  if (client.profile !== undefined) return namedProfile(client.profile, access);
  return environmentKeys(access) ?? defaultCredentials(client.region, access) ?? { missing: 'AWS_ACCESS_KEY_ID' };
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
  const sessionToken = keys.get('AWS_SESSION_TOKEN');
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** What the server has without a key in its environment. */
function defaultCredentials(region: string, access: ProviderAccess): AwsCredentialSource | undefined {
  const profile = profileCredentials(access.ofServer('AWS_PROFILE') ?? 'default', access);
  if (profile !== undefined) return profile;
  const identity = findWebIdentity(access.ofServer, region);
  if (identity !== undefined) return new RenewedCredential(() => fetchWebIdentityCredentials(identity, access.pools));
  const role = findAwsRole(access.ofServer, access.machine);
  return role === undefined ? undefined : new RenewedCredential(() => fetchRoleCredentials(role, access.pools));
}

function profileCredentials(name: string, access: ProviderAccess): AwsCredentialSource | undefined {
  const files = profileFiles(access);
  const profile = files === undefined ? undefined : readAwsProfile(files, name);
  if (profile === undefined) return undefined;
  return profile.kind === 'keys' ? profile.keys : new RenewedCredential(() => fetchProfileCredentials(profile));
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
