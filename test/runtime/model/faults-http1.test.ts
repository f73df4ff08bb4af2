import { testFaults } from './test-faults.ts';

testFaults('1.1');
