export * from '../candidates/scan/tree-sink.ts';
