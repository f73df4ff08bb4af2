import type * as CredentialProviderIni from '@aws-sdk/credential-provider-ini';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { ElsewhereProfile } from './aws-profile.ts';
import { DEFAULT_LIFE_MS } from './renewed-credential.ts';
import type { Lease } from './renewed-credential.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** Amazon's own reader of such profiles: 16 MB that few need, so whoever needs it installs it beside svc. */
const PACKAGE = '@aws-sdk/credential-provider-ini';

type ProfileReader = Pick<typeof CredentialProviderIni, 'fromIni'>;

/** The keys that a profile gets from elsewhere, by Amazon's own package; it is loaded only here. */
export async function fetchProfileCredentials(
  profile: ElsewhereProfile,
  load: () => Promise<ProfileReader> = () => import('@aws-sdk/credential-provider-ini'),
): Promise<Result<Lease<AwsCredentials>, string>> {
  const { name, files } = profile;
  const reader = await loaded(load);
  if (reader === undefined) {
    return err(
      `needs the package ${PACKAGE} for its AWS profile "${name}", which signs in or takes on a role. Install it beside svc, or use a profile with keys`,
    );
  }
  try {
    const provider = reader.fromIni({ profile: name, filepath: files.credentials, configFilepath: files.config });
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provider();
    const value = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    return ok({ value, livesMs: expiration === undefined ? DEFAULT_LIFE_MS : expiration.getTime() - Date.now() });
  } catch {
    // What the package says may hold the whole command line of a program that gives keys.
    return err(
      `could not get the keys of its AWS profile "${name}". On the server, "aws sts get-caller-identity --profile ${name}" says why`,
    );
  }
}

async function loaded(load: () => Promise<ProfileReader>): Promise<ProfileReader | undefined> {
  try {
    return await load();
  } catch {
    return undefined;
  }
}
