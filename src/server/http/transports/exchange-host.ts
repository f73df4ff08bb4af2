import type { TransportOptions } from '../transport.ts';
import type { BodyWatch } from './body-reader.ts';
import type { LeavingAnswers } from './leaving-answers.ts';

/** What an exchange needs of the transport that it belongs to. */
export interface ExchangeHost {
  readonly options: TransportOptions;
  readonly bodies: BodyWatch;
  readonly leavingAnswers: LeavingAnswers;
  /** Every answer is the last one of its connection. */
  readonly finishing: boolean;
}
