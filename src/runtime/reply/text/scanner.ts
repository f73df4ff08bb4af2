export * from '../candidates/scan/scanner.ts';
