import type { TransportOptions } from '../transport.ts';
import type { BodyWatch } from './body-reader.ts';

/** What an exchange needs of the transport that it belongs to. */
export interface ExchangeHost {
  readonly options: TransportOptions;
  readonly bodies: BodyWatch;
  /** Every answer is the last one of its connection. */
  readonly finishing: boolean;
}
