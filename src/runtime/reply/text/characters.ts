export * from '../candidates/scan/characters.ts';
