import { Output, type RichText } from '../values/rich-text.ts';
import type { Execute, Frame } from './frame.ts';

/** Runs a body and returns what it wrote as a value, segments included. */
export function capture(frame: Frame, body: Execute): string | RichText {
  const { run } = frame;
  const outer = run.out;
  const inner = new Output();
  run.out = inner;
  body(frame);
  run.out = outer;
  return inner.take();
}
