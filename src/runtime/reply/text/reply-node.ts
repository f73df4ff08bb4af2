export * from '../candidates/scan/reply-node.ts';
