export * from '../candidates/scan/string-reader.ts';
