export * from '../candidates/scan/bare-reader.ts';
