import type { ClientType } from '../../schema/client.ts';
import type { DeclaredHosts } from './declared-hosts.ts';
import type { ConnectionPools } from './http/connection-pools.ts';
import type { OfflineAnswers } from './offline/offline-client.ts';
import type { Environment } from './options/resolve-options.ts';
import type { CloudMachine } from './providers/cloud-machine.ts';

/** A client's definition, and who wrote it: the files are trusted with the server's keys, a request is not. */
export interface ClientSource {
  readonly definition: ClientType;
  readonly from: 'files' | 'request';
}

export interface ClientServices {
  readonly pools: ConnectionPools;
  readonly declaredHosts: DeclaredHosts;
  readonly offline: OfflineAnswers;
  /** Whose machine the server runs on, when it is one of a cloud. */
  readonly machine?: CloudMachine | undefined;
}

/** Whom a client is made for. */
export interface ClientRequester {
  readonly environment: Environment;
  /** Private and loopback addresses are allowed in URLs that the request decides. */
  readonly privateUrls: boolean;
}
