import { variablesIn, type ClientType } from '../../schema/client.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { decidesTarget } from '../model/credential-rule.ts';

/**
 * Variables with which tools and cloud SDKs find hosts. svc reads some of them only from the server's environment, but a
 * request that sets one expects an effect that it must not have.
 */
const OF_THE_NETWORK =
  /^(?:(?:https?|all|no|ftp|socks)_proxy|aws_(?:default_)?region|aws_endpoint_url(?:_\w+)?|aws_ec2_metadata_service_endpoint|aws_container_credentials_(?:relative|full)_uri|gce_metadata_(?:host|ip|root)|google_cloud_project)$/iu;

/** The variables that decide which URL or client a call reaches. */
export class TargetVariables {
  readonly #names: ReadonlySet<string>;

  /** `clients`: those of the definition files. */
  constructor(clients: readonly ClientType[]) {
    this.#names = new Set(clients.flatMap(variablesOf));
  }

  has(variable: string): boolean {
    return this.#names.has(variable) || OF_THE_NETWORK.test(variable);
  }
}

function variablesOf({ provider, options }: ClientType): readonly string[] {
  const table = PROVIDER_DESCRIPTIONS[provider].options;
  return options.filter(({ key }) => decidesTarget(table, key)).flatMap(({ value }) => variablesIn(value));
}
