import { afterEach, describe, expect, it } from 'vitest';
import { FRAMING_ROWS, SMUGGLED, type FramingOutcome } from '../support/framing-rows.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { listenOn, TRANSPORTS, type Listening } from '../support/transports.ts';

/** The number of other requests that the server answers while a connection stays silent, each in several turns of the event loop. */
const ANSWERS_TO_OTHERS = 5;

const open: Listening[] = [];
const connections: RawConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.end();
  for (const listening of open.splice(0)) listening.transport.close();
});

it('has a row for each known way of request smuggling', () => {
  expect(FRAMING_ROWS.length).toBeGreaterThanOrEqual(35);
});

describe.each(TRANSPORTS)('the %s transport', (name) => {
  const cases = FRAMING_ROWS.flatMap(({ title, bytes, alone, followed, reaches }) => {
    const behind = { bytes: bytes + SMUGGLED, outcome: onThis(followed), reaches };
    return [
      [`${title}, alone: ${onThis(alone)}`, { bytes, outcome: onThis(alone), reaches }] as const,
      [`${title}, with a request behind it: ${behind.outcome}`, behind] as const,
    ];
  });

  function onThis(outcome: FramingOutcome | Readonly<Record<typeof name, FramingOutcome>>): FramingOutcome {
    return typeof outcome === 'object' ? outcome[name] : outcome;
  }

  it.each(cases)('%s', async (_, { bytes, outcome, reaches }) => {
    const paths: string[] = [];
    const listening = await listenOn(name, (request, response) => {
      if (request.path !== '/plain') paths.push(request.path);
      request.readBody(1_000, (body) => response.send(body.kind === 'body' ? 200 : 400, [], ''));
    });
    open.push(listening);
    const connection = new RawConnection(listening.port);
    connections.push(connection);
    connection.write(bytes);
    expect(await outcomeOf(connection, outcome, listening.port)).toBe(outcome);
    // The next request of a client under attack must not get a normal answer.
    if (!connection.closed) connection.write(SMUGGLED);
    await answersToOthers(listening.port);
    expect(paths).not.toContain('/smuggled');
    expect(paths.length).toBeLessThanOrEqual(reaches === true ? 1 : 0);
    expect(connection.answers().length).toBeLessThanOrEqual(1);
  });
});

async function answersToOthers(port: number): Promise<void> {
  for (let count = 0; count < ANSWERS_TO_OTHERS; count += 1) {
    const plain = await fetch(`http://127.0.0.1:${port}/plain`);
    expect(plain.status).toBe(200);
    await plain.text();
  }
}

/** Waits for the end of the connection; if silence is expected, waits until other requests are answered. */
async function outcomeOf(
  connection: RawConnection,
  expected: FramingOutcome,
  port: number,
): Promise<FramingOutcome | undefined> {
  if (expected === 'silent') await answersToOthers(port);
  else await connection.until(() => connection.closed);
  if (!connection.closed) return connection.text === '' ? 'silent' : undefined;
  if (connection.text === '') return 'cut';
  const status = Number(connection.text.slice(9, 12));
  return connection.text.includes('<h1>') ? `${status} page` : status;
}
