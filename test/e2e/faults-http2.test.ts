import { testServedFaults } from './test-served-faults.ts';

testServedFaults('node', '2');
