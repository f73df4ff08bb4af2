import { wantsColour } from '../config/colour.ts';
import { processVariables } from '../config/environment.ts';

/** One of the two ways out to the user. */
export interface Output {
  write(text: string): void;
  /** Escape sequences for colour are welcome. */
  readonly colour: boolean;
}

/** Where a command speaks: results to `out`, problems to `error`. */
export interface Terminal {
  readonly out: Output;
  readonly error: Output;
}

/** What a command ends with: 0 done, 1 a problem in files or on the machine, 2 bad usage. */
export type ExitCode = 0 | 1 | 2;

/**
 * The streams of this process. A reader that goes away (`svc check | head -1`) is no problem of ours: what it does not
 * read is lost, and a server that was started from it lives on.
 */
export function processTerminal(): Terminal {
  return { out: outputOf(process.stdout), error: outputOf(process.stderr) };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  stream.on('error', () => {});
  return {
    write: (text) => {
      if (stream.writable) stream.write(text);
    },
    colour: wantsColour(stream.isTTY, processVariables()),
  };
}
