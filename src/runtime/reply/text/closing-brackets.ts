export { MAX_COMPARED } from '../candidates/scan/sink.ts';
