import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentialsIn } from '../../../base/credentials-in.ts';
import { parseJson, stringAt, type JsonObject } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { GOOGLE_VARIABLES } from '../../../schema/providers/google.ts';
import type { MissingSecret, ProviderAccess } from './provider.ts';

/** An account for which Google issues access tokens. */
export type GoogleIdentity = (ServiceAccount | AuthorizedUser | MetadataServer) & {
  readonly projectId: string | undefined;
};

/** The parts of a service account's key file that svc uses. */
export interface ServiceAccount {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly tokenUri: string;
}

/** The content of the file that `gcloud auth application-default login` writes. */
interface AuthorizedUser {
  readonly kind: 'user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUri: string;
  /** The project to which Google bills a user's calls. */
  readonly quotaProject?: string;
}

/** The account of the machine, from a service that only the machine can reach. */
interface MetadataServer {
  readonly kind: 'machine';
  readonly host: string;
}

/** The metadata service of Google's machines. */
const GOOGLE_METADATA_HOST = 'metadata.google.internal';

/**
 * The account of a client, found as Google's own libraries find it
 * (https://cloud.google.com/docs/authentication/application-default-credentials): the client's option, the variables,
 * the file of `gcloud auth application-default login`, the account of the machine. A request cannot name files of the
 * server, neither by an option nor by a variable, and an account of the server never completes what it brings.
 */
export function findGoogleIdentity(
  option: string | JsonObject | undefined,
  access: ProviderAccess,
): GoogleIdentity | MissingSecret {
  if (option !== undefined) return identityIn('credentials', option, { access, mayReadFiles: access.trusted });
  const { credentials, credentialsContent } = GOOGLE_VARIABLES;
  const secrets = access.secrets([credentialsContent, credentials]);
  for (const variable of [credentialsContent, credentials]) {
    const given = secrets.get(variable);
    if (given !== undefined) return identityIn(variable, given, { access, mayReadFiles: !secrets.ofRequest });
  }
  if (secrets.ofRequest) return { missing: credentials };
  const file = gcloudFile(access);
  if (file !== undefined) return identityIn(credentials, file, { access, mayReadFiles: true });
  const host = access.ofServer(GOOGLE_VARIABLES.metadataHost) ?? machineHost(access);
  return host === undefined ? { missing: credentials } : { kind: 'machine', host, projectId: undefined };
}

function machineHost(access: ProviderAccess): string | undefined {
  return access.machine === 'google' && access.ofServer(GOOGLE_VARIABLES.detection) !== 'none'
    ? GOOGLE_METADATA_HOST
    : undefined;
}

interface Reading {
  readonly access: ProviderAccess;
  readonly mayReadFiles: boolean;
}

function identityIn(holder: string, given: string | object, reading: Reading): GoogleIdentity | MissingSecret {
  const identity = readIdentity(given, reading);
  return identity.ok ? identity.value : { missing: holder, because: identity.failure };
}

function gcloudFile(access: ProviderAccess): string | undefined {
  const home = access.ofServer(GOOGLE_VARIABLES.home);
  const folder =
    access.ofServer(GOOGLE_VARIABLES.gcloudFolder) ?? (home === undefined ? undefined : join(home, '.config/gcloud'));
  if (folder === undefined) return undefined;
  const file = join(folder, 'application_default_credentials.json');
  return existsSync(file) ? file : undefined;
}

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * Reads an identity from its JSON text, a map of the same, or (where allowed) the path of a file. The failure completes a
 * sentence that begins with the name of the option or variable. Where files are not allowed, neither is a token URI
 * outside of Google: whoever received the signed assertion could use it at Google.
 */
function readIdentity(given: string | object, { access, mayReadFiles }: Reading): Result<GoogleIdentity, string> {
  const data = typeof given === 'string' ? parseIdentity(given, mayReadFiles) : ok(given);
  if (!data.ok) return data;
  for (const secret of credentialsIn(data.value)) access.hide(secret);
  const tokenUri = stringAt(data.value, 'token_uri') ?? DEFAULT_TOKEN_URI;
  if (!URL.canParse(tokenUri)) return err('has a "token_uri" that is not a URL');
  if (!mayReadFiles && new URL(tokenUri).origin !== new URL(DEFAULT_TOKEN_URI).origin) {
    return err('has a "token_uri" that is not Google\'s');
  }
  const account = readServiceAccount(data.value, tokenUri);
  if (account !== undefined) return account;
  const user = readUser(data.value, tokenUri);
  return user === undefined ? err(`contains ${described(data.value)}: ${READABLE}`) : ok(user);
}

const READABLE = 'a service account and an authorized user can be read';

function described(data: unknown): string {
  const type = stringAt(data, 'type');
  return type === undefined ? 'no credentials' : `credentials of the type "${type}", or not all of them`;
}

function readServiceAccount(data: unknown, tokenUri: string): Result<GoogleIdentity, string> | undefined {
  const clientEmail = stringAt(data, 'client_email');
  const keyText = stringAt(data, 'private_key');
  if (clientEmail === undefined || keyText === undefined) return undefined;
  const privateKey = readPrivateKey(keyText);
  if (privateKey === undefined) return err('has a "private_key" that is not an RSA key of at most 4096 bits');
  return ok({ kind: 'service-account', clientEmail, privateKey, tokenUri, projectId: stringAt(data, 'project_id') });
}

/**
 * The text of a key of 4096 bits has 3300 characters. The time of a signature grows with the third power of the numbers
 * in a key, and the modulus is only one of them, so the bound is on the text of all.
 */
const MAX_KEY_CHARACTERS = 4000;

function readPrivateKey(text: string): KeyObject | undefined {
  if (text.length > MAX_KEY_CHARACTERS) return undefined;
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

function readUser(data: unknown, tokenUri: string): GoogleIdentity | undefined {
  const clientId = stringAt(data, 'client_id');
  const clientSecret = stringAt(data, 'client_secret');
  const refreshToken = stringAt(data, 'refresh_token');
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) return undefined;
  const quotaProject = stringAt(data, 'quota_project_id');
  const person = { kind: 'user', clientId, clientSecret, refreshToken, tokenUri } as const;
  return { ...person, projectId: quotaProject, ...(quotaProject === undefined ? {} : { quotaProject }) };
}

function parseIdentity(given: string, mayReadFiles: boolean): Result<unknown, string> {
  const text = given.trimStart().startsWith('{') ? ok(given) : readIdentityFile(given, mayReadFiles);
  if (!text.ok) return text;
  const data = parseJson(text.value);
  return data === undefined ? err('is not valid JSON') : ok(data);
}

function readIdentityFile(path: string, mayReadFiles: boolean): Result<string, string> {
  if (!mayReadFiles) return err('has to be JSON: a request cannot name files of the server');
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch {
    return err('names a file that cannot be read');
  }
}
