import { createHmac, hash } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface AwsRequest {
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
