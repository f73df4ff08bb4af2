/** Cuts the bytes of a streamed response into events. */
export interface FrameReader {
  /** Takes the next bytes. False when the stream is beyond its bounds or damaged, and is not read on. */
  push(chunk: Buffer): boolean;
  /** True when bytes were changed on their way: the same request may succeed. */
  readonly damaged?: boolean;
  /** The body ended well. */
  end(): void;
}

/**
 * Takes as many events as it can of those whose data begins at `start` and that follow each other with `gap` between the data
 * of each two. Returns where the data of the first one begins that it left: `start` when it took none.
 */
export type RunListener = (text: string, start: number, gap: string) => number;

/** Told about each event. Its data is `text.slice(start, end)`, not yet cut out: most readers need not. */
export type EventListener = (text: string, start: number, end: number) => void;
