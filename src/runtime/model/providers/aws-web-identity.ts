import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { askService } from '../http/ask-service.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import { readTokenFile } from './read-token-file.ts';
import type { Lease } from './renewed-credential.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** A token by which AWS knows this process, and the role that it may take on: what EKS gives to a pod. */
export interface AwsWebIdentity {
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName: string;
  /** The security token service. */
  readonly serviceUrl: string;
}

/** The identity that the variables of the server name; `read` gives their values. */
export function findWebIdentity(
  read: (variable: string) => string | undefined,
  region: string,
): AwsWebIdentity | undefined {
  const tokenFile = read('AWS_WEB_IDENTITY_TOKEN_FILE');
  const roleArn = read('AWS_ROLE_ARN');
  if (tokenFile === undefined || roleArn === undefined) return undefined;
  const serviceUrl = read('AWS_ENDPOINT_URL_STS') ?? `https://sts.${region}.amazonaws.com`;
  if (!URL.canParse(serviceUrl)) return undefined;
  return { tokenFile, roleArn, sessionName: read('AWS_ROLE_SESSION_NAME') ?? 'svc', serviceUrl };
}

/**
 * Keys of the role, for the token. The request is not signed: the token proves who asks.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export async function fetchWebIdentityCredentials(
  identity: AwsWebIdentity,
  pools: ConnectionPools,
): Promise<Result<Lease<AwsCredentials>, string>> {
  const token = readTokenFile(identity.tokenFile);
  if (token === undefined) return err('cannot read the file that AWS_WEB_IDENTITY_TOKEN_FILE names');
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: identity.roleArn,
    RoleSessionName: identity.sessionName,
    WebIdentityToken: token,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await askService(pools, identity.serviceUrl, { headers, body });
  if (!answer.ok) return err(`could not take on its role "${identity.roleArn}": ${answer.failure}`);
  const lease = readLease(answer.value);
  return lease === undefined
    ? err(`could not take on its role "${identity.roleArn}": the answer holds no keys`)
    : ok(lease);
}

/** The answer is XML of one fixed form, whose values here need no unescaping. */
function readLease(xml: string): Lease<AwsCredentials> | undefined {
  const accessKeyId = element(xml, 'AccessKeyId');
  const secretAccessKey = element(xml, 'SecretAccessKey');
  const sessionToken = element(xml, 'SessionToken');
  const end = Date.parse(element(xml, 'Expiration') ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined) return undefined;
  const livesMs = Number.isNaN(end) ? 0 : end - Date.now();
  return { value: { accessKeyId, secretAccessKey, sessionToken }, livesMs };
}

function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]+)</${name}>`, 'u').exec(xml)?.[1];
}
