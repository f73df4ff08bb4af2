export * from '../candidates/scan/sink.ts';
