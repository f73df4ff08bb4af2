import { createReadStream } from 'node:fs';

/** A record of a file, without the line feed that ends it. */
export interface FileRecord {
  /** The bytes; empty if there are more than `maxBytes`. */
  readonly bytes: Buffer;
  readonly tooLong: boolean;
  /** The offset of the first byte. */
  readonly start: number;
  /** The offset after the line feed. */
  readonly end: number;
  /** False for a last record without a line feed. */
  readonly ended: boolean;
}

export interface SplitOptions {
  /** A line feed between quotes is part of the record, as in CSV. */
  readonly quoted?: boolean;
  readonly maxBytes?: number;
  /** Receives each chunk of the file before its records. */
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
}

const LINE_FEED = 10;
const QUOTE = 34;

/** Reads the records of a file, of which it holds one chunk and one record at a time. */
export async function* splitRecords(path: string, options: SplitOptions = {}): AsyncGenerator<FileRecord, void> {
  const { quoted = false, maxBytes = Infinity, onChunk } = options;
  let parts: Buffer[] = [];
  let start = 0;
  let offset = 0;
  let inQuotes = false;
  const recordUpTo = (end: number, ended: boolean): FileRecord => {
    const tooLong = end - start > maxBytes;
    const record = { bytes: tooLong ? Buffer.alloc(0) : Buffer.concat(parts), tooLong, start, end, ended };
    parts = [];
    start = end;
    return record;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    onChunk?.(chunk);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
      if (quoted && (inQuotes = leavesOpen(chunk, from, at, inQuotes))) {
        parts.push(chunk.subarray(from, at + 1));
        from = at + 1;
        continue;
      }
      parts.push(chunk.subarray(from, at));
      yield recordUpTo(offset + at + 1, true);
      from = at + 1;
    }
    if (quoted) inQuotes = leavesOpen(chunk, from, chunk.length, inQuotes);
    offset += chunk.length;
    if (offset - start > maxBytes) parts = [];
    else parts.push(chunk.subarray(from));
  }
  if (offset > start) yield recordUpTo(offset, false);
}

/** Returns whether the bytes end between quotes. A quote inside quotes is doubled, so that counting them suffices. */
function leavesOpen(chunk: Buffer, from: number, to: number, open: boolean): boolean {
  let inQuotes = open;
  for (let at = from; at < to; at += 1) if (chunk[at] === QUOTE) inQuotes = !inQuotes;
  return inQuotes;
}
