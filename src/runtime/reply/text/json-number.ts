export * from '../candidates/scan/json-number.ts';
