import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../base/json.ts';
import { readIdentity } from './google-identity.ts';
import type { GoogleIdentity } from './google-identity.ts';
import type { MissingSecret, ProviderAccess } from './provider.ts';

/** A file, or its content. */
const CREDENTIALS = 'GOOGLE_APPLICATION_CREDENTIALS';
const CREDENTIALS_CONTENT = 'GOOGLE_APPLICATION_CREDENTIALS_CONTENT';

/** Where `gcloud` keeps its files, when that is not below the home directory. */
const GCLOUD_FOLDER = 'CLOUDSDK_CONFIG';

/** Where the metadata service is, when it is not where Google's machines have it. */
const METADATA_HOST = 'GCE_METADATA_HOST';
const GOOGLE_METADATA_HOST = 'metadata.google.internal';

/** `none`: Google's machines are not asked for their account. */
const DETECTION = 'METADATA_SERVER_DETECTION';

/** Variables that decide whose credentials are taken. */
export const GOOGLE_CREDENTIAL_VARIABLES = [
  CREDENTIALS,
  CREDENTIALS_CONTENT,
  GCLOUD_FOLDER,
  METADATA_HOST,
  DETECTION,
  'HOME',
];

/**
 * Who asks, found as Google's own libraries find it
 * (https://cloud.google.com/docs/authentication/application-default-credentials): the client's option, the variables,
 * what `gcloud auth application-default login` wrote, the account of the machine. A request cannot name files of the
 * server, neither by an option nor by a variable, and what it brings is never completed by an account of the server.
 */
export function findGoogleIdentity(
  option: string | JsonObject | undefined,
  access: ProviderAccess,
): GoogleIdentity | MissingSecret {
  if (option !== undefined) return identityIn('credentials', option, access.trusted);
  const secrets = access.secrets([CREDENTIALS_CONTENT, CREDENTIALS]);
  for (const variable of [CREDENTIALS_CONTENT, CREDENTIALS]) {
    const given = secrets.get(variable);
    if (given !== undefined) return identityIn(variable, given, !secrets.ofRequest);
  }
  if (secrets.ofRequest) return { missing: CREDENTIALS };
  const file = gcloudFile(access);
  if (file !== undefined) return identityIn(CREDENTIALS, file, true);
  const host = access.ofServer(METADATA_HOST) ?? machineHost(access);
  return host === undefined ? { missing: CREDENTIALS } : { kind: 'machine', host, projectId: undefined };
}

function machineHost(access: ProviderAccess): string | undefined {
  return access.machine === 'google' && access.ofServer(DETECTION) !== 'none' ? GOOGLE_METADATA_HOST : undefined;
}

function identityIn(holder: string, given: string | object, mayReadFiles: boolean): GoogleIdentity | MissingSecret {
  const identity = readIdentity(given, mayReadFiles);
  return identity.ok ? identity.value : { missing: holder, because: identity.failure };
}

function gcloudFile(access: ProviderAccess): string | undefined {
  const home = access.ofServer('HOME');
  const folder = access.ofServer(GCLOUD_FOLDER) ?? (home === undefined ? undefined : join(home, '.config/gcloud'));
  if (folder === undefined) return undefined;
  const file = join(folder, 'application_default_credentials.json');
  return existsSync(file) ? file : undefined;
}
