import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { countAt, parseJson, stringAt } from '../formats/json-reading.ts';
import { askService } from '../http/ask-service.ts';
import type { ServiceRequest } from '../http/ask-service.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { Lease } from './renewed-credential.ts';
import { RenewedCredential } from './renewed-credential.ts';

/** Whoever Google gives access tokens to. */
export type GoogleIdentity = (ServiceAccount | AuthorizedUser | MetadataServer) & {
  readonly projectId: string | undefined;
};

/** The parts of a service account's key file that count. */
interface ServiceAccount {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly tokenUri: string;
}

/** What `gcloud auth application-default login` writes. */
interface AuthorizedUser {
  readonly kind: 'user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUri: string;
}

/** The account of the machine, told by a service that only the machine can reach. */
interface MetadataServer {
  readonly kind: 'machine';
  readonly host: string;
}

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * An identity from its JSON text, a map of the same, or (where allowed) the path of a file. Undefined when it is none.
 * A token URI outside of Google is then not taken: a signed assertion would be good at Google.
 */
export function readIdentity(given: string | object, mayReadFiles: boolean): GoogleIdentity | undefined {
  const data = typeof given === 'string' ? parseIdentity(given, mayReadFiles) : given;
  const tokenUri = stringAt(data, 'token_uri') ?? DEFAULT_TOKEN_URI;
  if (!URL.canParse(tokenUri)) return undefined;
  if (!mayReadFiles && new URL(tokenUri).origin !== new URL(DEFAULT_TOKEN_URI).origin) return undefined;
  return readServiceAccount(data, tokenUri) ?? readUser(data, tokenUri);
}

function readServiceAccount(data: unknown, tokenUri: string): GoogleIdentity | undefined {
  const clientEmail = stringAt(data, 'client_email');
  const privateKey = stringAt(data, 'private_key');
  if (clientEmail === undefined || privateKey === undefined) return undefined;
  return { kind: 'service-account', clientEmail, privateKey, tokenUri, projectId: stringAt(data, 'project_id') };
}

function readUser(data: unknown, tokenUri: string): GoogleIdentity | undefined {
  const clientId = stringAt(data, 'client_id');
  const clientSecret = stringAt(data, 'client_secret');
  const refreshToken = stringAt(data, 'refresh_token');
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) return undefined;
  const projectId = stringAt(data, 'quota_project_id');
  return { kind: 'user', clientId, clientSecret, refreshToken, tokenUri, projectId };
}

function parseIdentity(given: string, mayReadFiles: boolean): unknown {
  if (given.trimStart().startsWith('{')) return parseJson(given);
  if (!mayReadFiles) return undefined;
  try {
    return parseJson(readFileSync(given, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The access token of an identity, kept until shortly before its end. */
export function googleToken(identity: GoogleIdentity, pools: ConnectionPools): RenewedCredential<string> {
  return new RenewedCredential(() => fetchToken(identity, pools));
}

async function fetchToken(identity: GoogleIdentity, pools: ConnectionPools): Promise<Result<Lease<string>, string>> {
  const question = tokenRequest(identity);
  if (!question.ok) return question;
  const answer = await askService(pools, question.value.url, question.value.request);
  if (!answer.ok) return err(`could not get an access token: ${answer.failure}`);
  const reply = parseJson(answer.value);
  const value = stringAt(reply, 'access_token');
  if (value === undefined) return err('could not get an access token: the answer holds none');
  return ok({ value, livesMs: (countAt(reply, 'expires_in') ?? 3600) * 1000 });
}

interface TokenQuestion {
  readonly url: string;
  readonly request: ServiceRequest;
}

function tokenRequest(identity: GoogleIdentity): Result<TokenQuestion, string> {
  switch (identity.kind) {
    case 'service-account': {
      const assertion = signedAssertion(identity);
      const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      return assertion.ok ? ok(form(identity.tokenUri, { grant_type: grant, assertion: assertion.value })) : assertion;
    }
    case 'user': {
      const { clientId, clientSecret, refreshToken, tokenUri } = identity;
      const secrets = { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken };
      return ok(form(tokenUri, { grant_type: 'refresh_token', ...secrets }));
    }
    case 'machine': {
      const url = `http://${identity.host}/computeMetadata/v1/instance/service-accounts/default/token`;
      return ok({ url, request: { method: 'GET', headers: { 'metadata-flavor': 'Google' } } });
    }
  }
}

function form(url: string, fields: Readonly<Record<string, string>>): TokenQuestion {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, request: { headers, body: new URLSearchParams(fields).toString() } };
}

/** A JWT (RFC 7523) by which the account asks for a token. */
function signedAssertion(account: ServiceAccount): Result<string, string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: account.clientEmail, scope: SCOPE, aud: account.tokenUri, iat: now, exp: now + 3600 };
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
  try {
    return ok(`${text}.${createSign('RSA-SHA256').update(text).sign(account.privateKey, 'base64url')}`);
  } catch {
    return err('could not sign with the private key of its service account');
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
