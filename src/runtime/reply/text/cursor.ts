export * from '../candidates/scan/cursor.ts';
