import { AUTHENTICATION_ROWS } from './authentication-rows.ts';
import { FAILURE_ROWS } from './failure-rows.ts';
import { GATEWAY_ROWS } from './gateway-rows.ts';
import { PATH_ROWS } from './path-rows.ts';
import { REQUEST_ROWS } from './request-rows.ts';
import type { Row } from './row.ts';

/** All rows: the promises that one request can verify. */
export const ROWS: readonly Row[] = [
  ...REQUEST_ROWS,
  ...PATH_ROWS,
  ...AUTHENTICATION_ROWS,
  ...FAILURE_ROWS,
  ...GATEWAY_ROWS,
];
