import { TRANSPORTS } from '../server/support/transports.ts';
import { testServedFaults } from '../support/served-faults.ts';

testServedFaults(TRANSPORTS[0] ?? 'node', '1.1', 'ends by itself');
