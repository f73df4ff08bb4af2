import type { Wire, Behaviour } from './fake-wire.ts';
import {
  FIRST_TEXT,
  JSON_TYPE,
  STREAM,
  STREAM_TYPE,
  WHOLE,
  always,
  begin,
  beginJson,
  body,
  close,
  cut,
  firstText,
  silence,
  steps,
  UNANSWERED,
  type FaultGroup,
} from './fault-steps.ts';
import { head } from './http1-connection.ts';

/** A position in the middle of the event after the first text. */
const SHORT_LENGTH = String(Buffer.byteLength(FIRST_TEXT) + 40);

function write(data: string): Behaviour {
  return (_request, wire) => wire.write(data);
}

const CHUNKED_JSON = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };

/** Violations of HTTP/1.1, and what only HTTP/1.1 has. */
export const HTTP1_FAULTS: FaultGroup<Wire> = {
  title: 'HTTP/1.1',
  faults: [
    {
      name: '`content-length` smaller than the body',
      call: steps(beginJson(40), body(WHOLE)),
      stream: steps(begin(200, { ...STREAM_TYPE, 'content-length': SHORT_LENGTH }), body(STREAM)),
    },
    {
      name: 'a chunk whose size is not a number',
      call: write(`${head(200, CHUNKED_JSON)}zz\r\n${WHOLE}\r\n0\r\n\r\n`),
      stream: steps(firstText, write('zz\r\n')),
    },
    {
      name: 'no length, and the end of the connection ends the reply',
      call: steps(write(head(200, JSON_TYPE) + WHOLE), close),
      stream: steps(write(head(200, STREAM_TYPE) + STREAM), close),
    },
    {
      name: 'no length, and the connection ends too early',
      call: steps(write(head(200, JSON_TYPE) + WHOLE.slice(0, 40)), close),
      stream: steps(write(head(200, STREAM_TYPE) + FIRST_TEXT), close),
    },
    always('no HTTP at all', steps(write('hello\r\n\r\n'), close)),
    { ...always('headers that stop', steps(write('HTTP/1.1 200 OK\r\nx-more: '), silence)), limits: UNANSWERED },
    {
      ...always(
        'endless headers',
        steps(write('HTTP/1.1 200 OK\r\n'), (_request, wire) =>
          wire.flood(() => wire.write(`x-more: ${'x'.repeat(1000)}\r\n`)),
        ),
      ),
      floods: true,
    },
    always('101 Switching Protocols', steps(write(head(101, { connection: 'upgrade', upgrade: 'h2c' })), cut)),
  ],
};
