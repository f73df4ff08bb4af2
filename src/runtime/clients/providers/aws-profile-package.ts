import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { ElsewhereProfile } from './aws-profile.ts';
import type { Lease } from './renewed-credential.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** Amazon's own reader of such profiles: 16 MB that few need, so whoever needs it installs it beside svc. */
const PACKAGE = '@aws-sdk/credential-provider-ini';

/** Keys without an end are asked for again after this time. */
const DEFAULT_LIFE_MS = 60 * 60 * 1000;

/** The keys that a profile gets from elsewhere, by Amazon's own package; it is loaded only here. */
export async function fetchProfileCredentials(
  profile: ElsewhereProfile,
  packageName: string = PACKAGE,
): Promise<Result<Lease<AwsCredentials>, string>> {
  const { name, files } = profile;
  const fromIni = await loadFromIni(packageName);
  if (fromIni === undefined) {
    return err(
      `needs the package ${packageName} for its AWS profile "${name}", which signs in or takes on a role. Install it beside svc, or use a profile with keys`,
    );
  }
  try {
    const provider = fromIni({ profile: name, filepath: files.credentials, configFilepath: files.config });
    const { expiration, ...value } = await provider();
    return ok({ value, livesMs: expiration === undefined ? DEFAULT_LIFE_MS : expiration.getTime() - Date.now() });
  } catch (error) {
    return err(`could not get the keys of its AWS profile "${name}": ${error instanceof Error ? error.message : ''}`);
  }
}

type FromIni = (options: {
  readonly profile: string;
  readonly filepath: string;
  readonly configFilepath: string;
}) => () => Promise<AwsCredentials & { readonly expiration?: Date }>;

async function loadFromIni(packageName: string): Promise<FromIni | undefined> {
  try {
    const loaded = (await import(packageName)) as { readonly fromIni: FromIni };
    return loaded.fromIni;
  } catch {
    return undefined;
  }
}
