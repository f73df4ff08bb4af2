import { testServedFaults } from '../support/served-faults.ts';

testServedFaults('node', '2', 'ends by time');
