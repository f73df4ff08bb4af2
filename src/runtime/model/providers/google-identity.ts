import { createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { parseJson, stringAt } from '../wire/json-reading.ts';

/** Whoever Google gives access tokens to. */
export type GoogleIdentity = (ServiceAccount | AuthorizedUser | MetadataServer) & {
  readonly projectId: string | undefined;
};

/** The parts of a service account's key file that count. */
export interface ServiceAccount {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly tokenUri: string;
}

/** What `gcloud auth application-default login` writes. */
interface AuthorizedUser {
  readonly kind: 'user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUri: string;
  /** Which project a user's calls are billed to: Google wants to hear it. */
  readonly quotaProject?: string;
}

/** The account of the machine, told by a service that only the machine can reach. */
interface MetadataServer {
  readonly kind: 'machine';
  readonly host: string;
}

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * An identity from its JSON text, a map of the same, or (where allowed) the path of a file. The failure says why it is
 * none, and follows the name of what held it. Where files are not allowed, neither is a token URI outside of Google: a
 * signed assertion would be good at Google.
 */
export function readIdentity(given: string | object, mayReadFiles: boolean): Result<GoogleIdentity, string> {
  const data = typeof given === 'string' ? parseIdentity(given, mayReadFiles) : ok(given);
  if (!data.ok) return data;
  const tokenUri = stringAt(data.value, 'token_uri') ?? DEFAULT_TOKEN_URI;
  if (!URL.canParse(tokenUri)) return err('has a "token_uri" that is no URL');
  if (!mayReadFiles && new URL(tokenUri).origin !== new URL(DEFAULT_TOKEN_URI).origin) {
    return err('has a "token_uri" that is not Google\'s');
  }
  const account = readServiceAccount(data.value, tokenUri);
  if (account !== undefined) return account;
  const user = readUser(data.value, tokenUri);
  return user === undefined ? err(`holds ${described(data.value)}: ${READABLE}`) : ok(user);
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
  if (privateKey === undefined) return err('has a "private_key" that is no RSA key of at most 4096 bits');
  return ok({ kind: 'service-account', clientEmail, privateKey, tokenUri, projectId: stringAt(data, 'project_id') });
}

/**
 * The text of a key of 4096 bits has 3300 characters. The time of a signature grows with the third power of the numbers
 * in a key, of which the modulus is but one, so the text of all of them is bounded.
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
