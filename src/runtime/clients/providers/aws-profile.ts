import { readFileSync } from 'node:fs';
import type { AwsCredentials } from './sign-aws-request.ts';

/**
 * The keys of one profile in a credentials file (INI, as `aws configure` writes it). Undefined when the file cannot be
 * read or has no such profile with keys; a file is read once, when its client is made.
 */
export function readAwsProfile(path: string, profile: string): AwsCredentials | undefined {
  const values = profileValues(path, profile);
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const sessionToken = values.get('aws_session_token');
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
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
