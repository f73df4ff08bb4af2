import type { ClientType } from '../../schema/client.ts';
import type { PriceList } from '../../schema/price-list.ts';
import type { DeclaredHosts } from './credential-rule.ts';
import type { CallEnvironment } from './environment.ts';
import type { ConnectionPools } from './http/connection-pools.ts';
import type { OfflineAnswers } from './providers/offline.ts';
import type { CloudMachine } from './providers/cloud-credential.ts';

/** A client's definition and its origin: svc trusts the files with the server's keys, but not a request. */
export interface ClientSource {
  readonly definition: ClientType;
  readonly from: 'files' | 'request';
}

export interface ClientServices {
  readonly pools: ConnectionPools;
  readonly declaredHosts: DeclaredHosts;
  readonly offline: OfflineAnswers;
  /** Called with each secret of the server that becomes known while it serves, so that no log or error shows it. */
  readonly hide?: ((secret: string) => void) | undefined;
  /** For clients that state no prices. */
  readonly prices?: PriceList | undefined;
  /** The cloud on whose machine the server runs, if any. */
  readonly machine?: CloudMachine | undefined;
}

/** The origin of the calls of a client. */
export interface ClientRequester {
  readonly environment: CallEnvironment;
  /** Private and loopback addresses are allowed in URLs that the request decides. */
  readonly privateUrls: boolean;
}
