import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { countAt, parseJson, stringAt } from '../formats/json-reading.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import { postOnce } from '../http/post-once.ts';

/** The parts of a service account's key file that count. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly tokenUri: string;
  readonly projectId: string | undefined;
}

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** Tokens live for an hour; a new one is fetched this long before the old one ends. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;

/**
 * A service account from its JSON text, a map of the same, or (where allowed) the path of a file. Undefined when it
 * is none. A token URI outside of Google is not taken: the signed assertion would be good at Google.
 */
export function readServiceAccount(
  given: string | JsonObject | object,
  mayReadFiles: boolean,
): ServiceAccount | undefined {
  const data = typeof given === 'string' ? parseAccount(given, mayReadFiles) : given;
  const clientEmail = stringAt(data, 'client_email');
  const privateKey = stringAt(data, 'private_key');
  if (clientEmail === undefined || privateKey === undefined) return undefined;
  const tokenUri = stringAt(data, 'token_uri') ?? DEFAULT_TOKEN_URI;
  if (!URL.canParse(tokenUri)) return undefined;
  if (!mayReadFiles && new URL(tokenUri).hostname !== 'oauth2.googleapis.com') return undefined;
  return { clientEmail, privateKey, tokenUri, projectId: stringAt(data, 'project_id') };
}

function parseAccount(given: string, mayReadFiles: boolean): unknown {
  if (given.trimStart().startsWith('{')) return parseJson(given);
  if (!mayReadFiles) return undefined;
  try {
    return parseJson(readFileSync(given, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The access token of one service account, fetched when it is first needed and kept until shortly before its end. */
export class GoogleToken {
  readonly #account: ServiceAccount;
  readonly #pools: ConnectionPools;
  #token: { readonly value: string; readonly until: number } | undefined;
  #fetching: Promise<Result<string, string>> | undefined;

  constructor(account: ServiceAccount, pools: ConnectionPools) {
    this.#account = account;
    this.#pools = pools;
  }

  /** Calls that come while it is fetched wait for the same answer. */
  get(): Promise<Result<string, string>> {
    if (this.#token !== undefined && performance.now() < this.#token.until)
      return Promise.resolve(ok(this.#token.value));
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<Result<string, string>> {
    const assertion = signedAssertion(this.#account);
    if (!assertion.ok) return assertion;
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const body = new URLSearchParams({ grant_type: grant, assertion: assertion.value }).toString();
    const answer = await postOnce(this.#pools, this.#account.tokenUri, {
      'content-type': 'application/x-www-form-urlencoded',
      body,
    });
    if (!answer.ok) return err(`could not get an access token: ${answer.failure}`);
    const reply = parseJson(answer.value);
    const value = stringAt(reply, 'access_token');
    if (value === undefined) return err('could not get an access token: the answer holds none');
    const livesMs = (countAt(reply, 'expires_in') ?? 3600) * 1000;
    this.#token = { value, until: performance.now() + Math.max(0, livesMs - RENEW_BEFORE_MS) };
    return ok(value);
  }
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
