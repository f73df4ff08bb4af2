import { afterEach, describe, expect, it, vi } from 'vitest';
import { Admission, BodyBudget, CallerShares, placesOf, shareOf, type Waiter } from '../../src/server/admission.ts';
import { success } from './support/scripted-runtime.ts';
import { RawConnection } from './support/raw-connection.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

it.each([
  [100, 4, 25],
  [103, 4, 25],
  [4, 4, 1],
  [3, 4, 1],
  [1, 2, 1],
  [0, 2, 0],
])('of %i places each of %i workers has %i', (total, workers, share) => {
  expect(shareOf(total, workers)).toBe(share);
});

it('admits waiters in order, also those that leave at once', () => {
  const admission = new Admission(1, 5_000);
  const first = { admitted: () => undefined };
  admission.enter(first);
  let served = 0;
  for (let waiting = 0; waiting < 5_000; waiting += 1) {
    const waiter = {
      admitted: () => {
        served += 1;
        admission.leave(waiter);
      },
    };
    expect(admission.enter(waiter)).toBeUndefined();
  }
  admission.leave(first);
  expect([served, admission.running, admission.waiting]).toEqual([5_000, 0, 0]);
});

it('admits no waiter once it is closed', () => {
  const admission = new Admission(1, 1);
  const first = { admitted: () => undefined };
  const second = { admitted: vi.fn() };
  admission.enter(first);
  admission.enter(second);
  admission.close();
  admission.leave(first);
  expect(second.admitted).not.toHaveBeenCalled();
});

it('a caller can hold at least one slot', () => {
  expect([placesOf(100, 0.25), placesOf(3, 0.25), placesOf(0, 0.25), placesOf(10, 1)]).toEqual([25, 1, 1, 10]);
});

it('a caller that released everything takes no memory and can reserve its share again', () => {
  const shares = new CallerShares(2);
  expect([shares.take('a', 2), shares.take('a', 1), shares.take('b', 1)]).toEqual([true, false, true]);
  shares.give('a', 1);
  expect(shares.take('a', 1)).toBe(true);
});

it('a body that exceeds the limit of the server takes nothing from the share of its caller', () => {
  const budget = new BodyBudget(10, 8);
  expect(budget.take('a', 8)).toBeUndefined();
  expect(budget.take('b', 3)).toBe('server');
  expect(budget.take('a', 1)).toBe('caller');
  expect(budget.take('b', 2)).toBeUndefined();
  expect(budget.held).toBe(10);
});

function waiterOf(caller?: string): Waiter {
  return { caller, admitted: () => undefined };
}

it('one caller gets its share of the slots, and others get the rest', () => {
  const admission = new Admission(8, 8, 0.25);
  expect(['a', 'a', 'a'].map((caller) => admission.enter(waiterOf(caller)))).toEqual([undefined, undefined, 'share']);
  expect(admission.enter(waiterOf('b'))).toBeUndefined();
  for (let call = 0; call < 5; call += 1) expect(admission.enter(waiterOf())).toBeUndefined();
  expect([admission.running, admission.waiting]).toEqual([8, 0]);
});

it('one caller gets its share of the queue too', () => {
  const admission = new Admission(100, 4, 0.25);
  const ordinary = Array.from({ length: 100 }, () => waiterOf());
  for (const waiter of ordinary) admission.enter(waiter);
  const first = waiterOf('a');
  expect([admission.enter(first), admission.enter(waiterOf('a'))]).toEqual([undefined, 'share']);
  admission.leave(first);
  expect([admission.waiting, admission.enter(waiterOf('a'))]).toEqual([0, undefined]);
});

it('ordinary calls of one caller can take every slot', () => {
  const admission = new Admission(8, 8, 0.25);
  for (let call = 0; call < 16; call += 1) expect(admission.enter(waiterOf())).toBeUndefined();
  expect(admission.enter(waiterOf())).toBe('full');
});

describe.each(TRANSPORTS)('the %s transport', (name) => {
  let server: TestServer;
  const connections: RawConnection[] = [];

  afterEach(() => {
    for (const connection of connections.splice(0)) connection.end();
    server.close();
  });

  function call(from?: string): RawConnection {
    const connection = new RawConnection(server.port, from);
    connections.push(connection);
    connection.write(
      'POST /call/Greet HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    );
    return connection;
  }

  it('states the address of the caller, whose share of the waiting types a request takes', async () => {
    server = await startServer(name, {});
    await call().answer();
    await call('127.0.0.2').answer();
    expect(server.runtime.networks).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  it('leaves slots to others while the calls of one caller, who chose their servers, hang', async () => {
    server = await startServer(name, { maxInFlight: 8, callerShare: 0.25 });
    server.runtime.decidesUpstream = true;
    server.runtime.onCall = () => new Promise(() => undefined);
    const hanging = [call(), call()];
    await hanging[0]?.until(() => server.services.admission.running === 2);
    const refused = await call().answer();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(refused.body)).toMatchObject({
      error: 'overloaded',
      message: expect.stringContaining('2 (--caller-share 25%)') as string,
    });
    server.runtime.onCall = () => success('hello');
    expect((await call('127.0.0.2').answer()).status).toBe(200);
    server.runtime.decidesUpstream = false;
    expect((await call().answer()).status).toBe(200);
    for (const connection of hanging) connection.end();
    await hanging[0]?.until(() => server.services.admission.running === 0);
    server.runtime.decidesUpstream = true;
    expect((await call().answer()).status).toBe(200);
  });
});
