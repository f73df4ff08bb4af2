import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface AwsRequest {
  readonly host: string;
  /** As it is sent: encoded once. */
  readonly path: string;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  /** In the names of AWS: lower case. `host` and the date are added. */
  readonly headers: Readonly<Record<string, string>>;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * The headers that sign a POST, version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
export function signAwsRequest(
  request: AwsRequest,
  credentials: AwsCredentials,
  now: Date = new Date(),
): Readonly<Record<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/gu, '');
  const token = credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken };
  const signed: Readonly<Record<string, string>> = {
    ...request.headers,
    host: request.host,
    'x-amz-date': time,
    ...token,
  };
  const names = Object.keys(signed).toSorted();
  const scope = `${time.slice(0, 8)}/${request.region}/${request.service}/aws4_request`;
  const digest = sha256(canonicalRequest(request, names, signed));
  const signature = hmac(signingKey(request, credentials, time), `${ALGORITHM}\n${time}\n${scope}\n${digest}`).toString(
    'hex',
  );
  const credential = `Credential=${credentials.accessKeyId}/${scope}`;
  return {
    'x-amz-date': time,
    ...token,
    authorization: `${ALGORITHM} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

function canonicalRequest(
  request: AwsRequest,
  names: readonly string[],
  headers: Readonly<Record<string, string>>,
): string {
  const [path = '/', query = ''] = request.path.split('?');
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim()}\n`).join('');
  return `POST\n${canonicalPath(path)}\n${query}\n${lines}\n${names.join(';')}\n${sha256(request.body)}`;
}

/** Every service but S3 signs the path with each segment encoded once more. */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*]/gu, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');
}

function signingKey(request: AwsRequest, credentials: AwsCredentials, time: string): Buffer {
  const date = hmac(`AWS4${credentials.secretAccessKey}`, time.slice(0, 8));
  return hmac(hmac(hmac(date, request.region), request.service), 'aws4_request');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
