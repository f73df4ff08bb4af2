import type { ProgramFile } from '../../schema/program.ts';

/** `path:line:column` of an offset in a definition file. */
export function positionOf(files: readonly ProgramFile[], path: string, offset: number): string {
  const starts = files.find((file) => file.path === path)?.lineStarts ?? [0];
  let line = starts.findLastIndex((start) => start <= offset);
  if (line < 0) line = 0;
  return `${path}:${line + 1}:${offset - (starts[line] ?? 0) + 1}`;
}
