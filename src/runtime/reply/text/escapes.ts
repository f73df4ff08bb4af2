export * from '../candidates/scan/escapes.ts';
