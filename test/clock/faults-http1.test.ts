import { testServedFaults } from '../support/served-faults.ts';

testServedFaults('node', '1.1', 'ends by time');
