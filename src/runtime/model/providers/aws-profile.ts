import { readFileSync } from 'node:fs';
import type { AwsCredentials } from './aws-signer.ts';

/** Where profiles are: `~/.aws/credentials` and `~/.aws/config`, unless variables say otherwise. */
export interface AwsProfileFiles {
  readonly credentials: string;
  readonly config: string;
}

/** What a profile holds: keys, or how to get them from elsewhere. */
export type AwsProfile = { readonly kind: 'keys'; readonly keys: AwsCredentials } | ElsewhereProfile;

/** Single sign-on, a role to take on, or a program to ask. */
export interface ElsewhereProfile {
  readonly kind: 'elsewhere';
  readonly name: string;
  readonly files: AwsProfileFiles;
}

/** Settings of profiles whose keys are elsewhere. */
const ELSEWHERE = ['sso_session', 'sso_start_url', 'credential_process', 'login_session'];

/**
 * A profile of the files that AWS's tools share (INI, as `aws configure` writes it). Undefined when neither file can
 * be read or has such a profile with a way to keys. Files are read once, when their client is made.
 */
export function readAwsProfile(files: AwsProfileFiles, name: string): AwsProfile | undefined {
  const values = new Map([...profileValues(files.config, name), ...profileValues(files.credentials, name)]);
  const elsewhere = { kind: 'elsewhere', name, files } as const;
  // A role comes before keys: these may be the ones by which it is taken on.
  if (values.has('role_arn')) return elsewhere;
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return ELSEWHERE.some((setting) => values.has(setting)) ? elsewhere : undefined;
  }
  const sessionToken = values.get('aws_session_token');
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return { kind: 'keys', keys };
}

function profileValues(path: string, profile: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let inside = false;
  for (const line of linesOf(path)) {
    const section = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/u.exec(line);
    if (section !== null) inside = section[1] === profile;
    const at = line.indexOf('=');
    if (inside && at > 0) values.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return values;
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split(/\r?\n/u)
      .filter((line) => !/^\s*[#;]/u.test(line));
  } catch {
    return [];
  }
}
