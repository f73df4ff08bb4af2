import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { countAt, parseJson, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { askService, type ServiceRequest } from '../http/ask-service.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { GoogleIdentity, ServiceAccount } from './google-identity.ts';
import type { ProviderAccess } from './provider.ts';
import { RenewedCredential, type Lease } from './renewed-credential.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** The access token of an identity, kept until shortly before it expires. */
export function googleToken(
  identity: GoogleIdentity,
  { hide, pools }: Pick<ProviderAccess, 'hide' | 'pools'>,
): RenewedCredential<string> {
  return new RenewedCredential(async () => {
    const token = await fetchToken(identity, pools);
    if (token.ok) hide(token.value.value);
    return token;
  });
}

async function fetchToken(identity: GoogleIdentity, pools: ConnectionPools): Promise<Result<Lease<string>, string>> {
  const request = await tokenRequest(identity);
  if (!request.ok) return request;
  const answer = await askService(pools, request.value.url, request.value.request);
  if (!answer.ok) return err(`could not get an access token: ${answer.failure}`);
  const reply = parseJson(answer.value);
  const value = stringAt(reply, 'access_token');
  if (value === undefined) return err('could not get an access token: the answer contains none');
  return ok({ value, livesMs: (countAt(reply, 'expires_in') ?? 3600) * 1000 });
}

interface TokenRequest {
  readonly url: string;
  readonly request: ServiceRequest;
}

async function tokenRequest(identity: GoogleIdentity): Promise<Result<TokenRequest, string>> {
  switch (identity.kind) {
    case 'service-account': {
      const assertion = await signedAssertion(identity);
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

function form(url: string, fields: Readonly<Record<string, string>>): TokenRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, request: { headers, body: new URLSearchParams(fields).toString() } };
}

const signOnThread = promisify(sign);

/** The JWT (RFC 7523) with which the account requests a token. A thread signs it, since that takes milliseconds. */
async function signedAssertion(account: ServiceAccount): Promise<Result<string, string>> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: account.clientEmail, scope: SCOPE, aud: account.tokenUri, iat: now, exp: now + 3600 };
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
  try {
    const signature = await signOnThread('RSA-SHA256', Buffer.from(text), account.privateKey);
    return ok(`${text}.${signature.toString('base64url')}`);
  } catch {
    return err('could not sign with the private key of its service account');
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
