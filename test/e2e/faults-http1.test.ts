import { TRANSPORTS } from '../server/support/transports.ts';
import { testServedFaults } from './test-served-faults.ts';

testServedFaults(TRANSPORTS[0] ?? 'node', '1.1');
