import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import type { Config } from '../../src/config/config.ts';
import type { AnswerPart } from '../../src/runtime/call/call-options.ts';
import type { StreamLimits } from '../../src/server/http/event-stream.ts';
import { RawConnection } from './support/raw-connection.ts';
import { failed, lossySuccess, success, WARNINGS, type ScriptedStream } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const servers: TestServer[] = [];
const connections: RawConnection[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const connection of connections.splice(0)) connection.end();
  for (const server of servers.splice(0)) server.close();
});

const REQUEST =
  'POST /stream/Greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

const DOWN = { code: 'client_error', message: 'down', client: 'Fast', attempts: [] } as const;

describe.each(TRANSPORTS)('over %s', (name) => {
  async function open(
    config: Partial<Config> = {},
    limits: Partial<StreamLimits> = {},
    include: readonly AnswerPart[] = [],
    cacheTtlMs?: number,
  ): Promise<{ server: TestServer; reader: RawConnection; stream: ScriptedStream }> {
    const server = await startServer(name, config, limits);
    server.runtime.include = new Set(include);
    server.runtime.cacheTtlMs = cacheTtlMs;
    servers.push(server);
    const reader = new RawConnection(server.port);
    connections.push(reader);
    reader.write(REQUEST);
    await until(() => server.runtime.streams.length === 1);
    const [stream] = server.runtime.streams;
    if (stream === undefined) throw new Error('no stream');
    return { server, reader, stream };
  }

  it('states in its head that an offline client makes up the value', async () => {
    const { reader, stream } = await open();
    stream.madeUp = true;
    stream.grow('a');
    await reader.until(() => messages(reader).length === 1);
    expect(reader.text.toLowerCase()).toContain('\r\nx-svc-made-up: true\r\n');
  });

  it('sends the first partial at once, then at most one in 50 ms, then one final value', async () => {
    const { reader, stream, server } = await open();
    stopClock();
    stream.grow('a');
    expect(stream.taken).toBe(1);
    await reader.until(() => messages(reader).length === 1);
    for (const text of ['ab', 'abc', 'abcd']) stream.grow(text);
    vi.advanceTimersByTime(49);
    expect(stream.taken).toBe(1);
    // Text that is read in the next few milliseconds would go out with it.
    vi.advanceTimersByTime(5);
    expect(stream.taken).toBe(2);
    await reader.until(() => messages(reader).length === 2);
    stream.observer.ended(success('abcde'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader)).toEqual([{ partial_result: 'a' }, { partial_result: 'abcd' }, { final_result: 'abcde' }]);
    expect(server.services.active.size).toBe(0);
  });

  it('sends every partial when the interval is 0', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    for (const text of ['a', 'ab', 'abc']) stream.grow(text);
    stream.observer.ended(success('abc'));
    await reader.until(() => messages(reader).length === 4);
    expect(messages(reader).map((message) => Object.values(message)[0])).toEqual(['a', 'ab', 'abc', 'abc']);
  });

  it('sends requested reasoning before the partials, and the rest of it before the final value', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 }, {}, ['reasoning']);
    stream.observer.reasoning('Hm. ');
    stream.observer.reasoning('So.');
    stream.grow('a');
    const report = { ...success('a').report, reasoning: 'Hm. So.' };
    stream.observer.ended({ ...success('a'), report });
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader)).toEqual([
      { reasoning: 'Hm. ' },
      { reasoning: 'So.' },
      { partial_result: 'a' },
      { final_result: 'a', meta: { reasoning: 'Hm. So.' } },
    ]);
  });

  it('sends reasoning at most once in 50 ms, and the rest before the final value', async () => {
    const { reader, stream } = await open({}, {}, ['reasoning']);
    stopClock();
    stream.observer.reasoning('a');
    await reader.until(() => messages(reader).length === 1);
    stream.observer.reasoning('b');
    stream.observer.reasoning('c');
    expect(messages(reader)).toHaveLength(1);
    stream.observer.ended(success('x'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader)).toEqual([{ reasoning: 'a' }, { reasoning: 'bc' }, { final_result: 'x', meta: {} }]);
  });

  it('sends the messages that the documentation shows', async () => {
    const [, example = ''] = /^#### Reasoning[^]*?^```\n([^]*?)```$/mu.exec(readFileSync('docs/http.md', 'utf8')) ?? [];
    const documented = example.split('\n').filter((line) => line !== '');
    const { reader, stream } = await open({ partialIntervalMs: 0 }, {}, ['reasoning']);
    const outcome = success({ name: 'Ada', skills: ['algebra'] });
    stream.observer.reasoning('The text names one person. ');
    stream.observer.reasoning('Ada is a programmer.');
    stream.grow({ name: 'Ada', skills: [] });
    const reasoning = 'The text names one person. Ada is a programmer.';
    stream.observer.ended({ ...outcome, report: { ...outcome.report, reasoning } });
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader)).toEqual(documented.map((line) => JSON.parse(line.replace('data: ', '')) as unknown));
  });

  it('reports a reset after reasoning, and forgets the reasoning that it has not sent', async () => {
    const { reader, stream } = await open({}, {}, ['reasoning']);
    stopClock();
    stream.observer.reasoning('wrong');
    await reader.until(() => messages(reader).length === 1);
    stream.observer.reasoning(' way');
    stream.observer.reset('cut');
    stream.observer.reasoning('right');
    stream.observer.ended(success('x'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader).slice(0, 3)).toEqual([
      { reasoning: 'wrong' },
      { reset: { reason: 'cut' } },
      { reasoning: 'right' },
    ]);
  });

  it('has the headers of a stream, and a comment first', async () => {
    const { reader, stream } = await open();
    stream.grow('a');
    await reader.until(() => messages(reader).length === 1);
    const head = reader.text.slice(0, reader.text.indexOf('\r\n\r\n')).toLowerCase();
    for (const line of [
      'content-type: text/event-stream; charset=utf-8\r\n',
      'cache-control: no-cache, no-transform',
      'x-accel-buffering: no',
      'x-request-id: ',
    ]) {
      expect(head).toContain(line);
    }
    expect(payload(reader).startsWith(':\ndata: ')).toBe(true);
  });

  it('escapes the characters that some readers take for the end of a line', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    const value = { 'a\u2028': '\u0085 \u2029 Å' };
    stream.grow(value);
    stream.observer.ended(success(value));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    const json = String.raw`{"a\u2028":"\u0085 \u2029 Å"}`;
    expect(payload(reader)).toBe(`:\ndata: {"partial_result":${json}}\n\ndata: {"final_result":${json}}\n\n`);
    expect(messages(reader)).toEqual([{ partial_result: value }, { final_result: value }]);
  });

  it('answers a failure before the first text with its true status', async () => {
    const { reader, stream } = await open();
    stream.observer.ended(failed(DOWN));
    const answer = await reader.answer();
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'client_error', client: 'Fast' });
  });

  it('ends with an error event when the failure happens later', async () => {
    const { reader, stream } = await open();
    stream.grow('a');
    stream.observer.ended(failed(DOWN));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(reader.text).toMatch(/^HTTP\/1\.1 200/);
    const last = messages(reader).at(-1);
    expect(last).toMatchObject({ error: 'client_error', message: 'down' });
    expect(typeof last?.['request_id']).toBe('string');
  });

  it('sends only a final value when there was no text before it', async () => {
    const { reader, stream } = await open();
    stream.observer.ended(success({ a: 1 }));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader)).toEqual([{ final_result: { a: 1 } }]);
  });

  it('lists what the final value lacks if the caller asks for warnings', async () => {
    for (const [include, more] of [
      [[], {}],
      [['warnings'], { warnings: WARNINGS, more_warnings: 1 }],
    ] as const) {
      const { reader, stream } = await open({}, {}, include);
      stream.observer.ended(lossySuccess());
      await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
      expect(messages(reader)).toEqual([{ final_result: [1], ...more }]);
    }
  });

  it('has the facts that the caller asks for in the last message', async () => {
    const { reader, stream } = await open({}, {}, ['usage', 'client', 'warnings']);
    stream.grow('a');
    stream.observer.ended(success('ab'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    const meta = { usage: { input_tokens: 12, output_tokens: 7 }, client: { name: 'Fast', model: 'small-1' } };
    expect(messages(reader).at(-1)).toEqual({ final_result: 'ab', warnings: [], meta });
  });

  it('opens after a time without text, and reports later failures in the stream', async () => {
    stopClock();
    const { reader, server, stream } = await open();
    vi.advanceTimersByTime(4_999);
    await anotherAnswer(server);
    expect(reader.text).toBe('');
    vi.advanceTimersByTime(1);
    await reader.until(() => payload(reader) === ':\n');
    stream.observer.ended(failed(DOWN));
    await reader.until(() => messages(reader).length === 1);
    expect(messages(reader)[0]).toMatchObject({ error: 'client_error' });
  });

  it('opens after this time while it waits for a slot, too', async () => {
    stopClock();
    const { server, stream } = await open({ maxInFlight: 1 });
    const waiting = new RawConnection(server.port);
    connections.push(waiting);
    waiting.write(REQUEST);
    await until(() => server.services.admission.waiting === 1);
    vi.advanceTimersByTime(5_000);
    await waiting.until(() => payload(waiting) === ':\n');
    stream.observer.ended(success('a'));
    await until(() => server.runtime.streams.length === 2);
    server.runtime.streams[1]?.observer.ended(success('b'));
    await waiting.until(() => waiting.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(waiting)).toEqual([{ final_result: 'b' }]);
  });

  it('has a time limit that includes the wait for a slot', async () => {
    const { stream } = await open({ streamTimeoutMs: 600_000 });
    expect(stream.context.deadlineMs).toBeGreaterThan(0);
    expect(stream.context.deadlineMs).toBeLessThan(600_000);
    stream.grow('a');
    stream.observer.ended(failed({ code: 'timeout', message: 'late', timer: 'total', afterMs: 5_000 }));
  });

  it('reports when partials start again', async () => {
    const { reader, stream } = await open();
    stream.observer.reset('before any partial: nobody has to know');
    stream.grow('abc');
    await reader.until(() => messages(reader).length === 1);
    stream.observer.reset('client_error');
    stream.grow('x');
    await reader.until(() => messages(reader).length === 3);
    stream.observer.ended(success('xy'));
    await reader.until(() => messages(reader).length === 4);
    expect(messages(reader)).toEqual([
      { partial_result: 'abc' },
      { reset: { reason: 'client_error' } },
      { partial_result: 'x' },
      { final_result: 'xy' },
    ]);
  });

  it('ignores events after the last message', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    stream.grow('a');
    stream.observer.ended(success('ab'));
    stream.grow('abc');
    stream.observer.reset('late');
    stream.observer.ended(failed(DOWN));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    await sleep(20);
    expect(messages(reader)).toEqual([{ partial_result: 'a' }, { final_result: 'ab' }]);
  });

  it('cancels the upstream call when the reader leaves', async () => {
    for (const started of [false, true]) {
      const { reader, server, stream } = await open();
      if (started) {
        stream.grow('a');
        await reader.until(() => messages(reader).length === 1);
      }
      reader.end();
      await until(() => stream.context.cancellation.cancelled);
      expect(server.services.active.size).toBe(0);
    }
  });

  it('sends a slow reader the newest value instead of all, and the complete final one', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    reader.socket.pause();
    const big = 'x'.repeat(100_000);
    for (let turn = 0; turn < 400; turn += 1) {
      stream.grow(`${turn} ${big}`);
      if (turn % 20 === 0) await sleep(2);
    }
    const takenWhileStalled = stream.taken;
    expect(takenWhileStalled).toBeLessThan(200);
    const final = Array.from({ length: 200_000 }, (_, index) => `${index}é`).join(' ');
    reader.socket.resume();
    await until(() => stream.taken > takenWhileStalled);
    stream.observer.ended(success(final));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    const all = messages(reader);
    expect(all.at(-1)).toEqual({ final_result: final });
    expect(all.at(-2)).toEqual({ partial_result: `399 ${big}` });
    expect(all.length).toBe(stream.taken + 1);
  });

  it('keeps the order and all bytes under random stalls', async () => {
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    let sent = 0;
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let turn = 0; turn < 60; turn += 1) {
      if (random(3) === 0) reader.socket.pause();
      if (random(2) === 0) reader.socket.resume();
      sent += 1;
      stream.grow({ turn, text: 'é'.repeat(random(60_000)) });
      if (random(4) === 0) await sleep(random(15));
    }
    reader.socket.resume();
    stream.observer.ended(success({ turn: sent, text: 'done' }));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    const turns = messages(reader).map((message) => (Object.values(message)[0] as { turn: number }).turn);
    expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    expect(turns.at(-1)).toBe(60);
    expect(new Set(turns).size).toBe(turns.length);
  });

  it('sends a comment after a time of silence', async () => {
    stopClock();
    const { reader, server, stream } = await open();
    stream.grow('a');
    await reader.until(() => messages(reader).length === 1);
    const before = payload(reader).length;
    vi.advanceTimersByTime(14_000);
    await anotherAnswer(server);
    expect(payload(reader).length).toBe(before);
    vi.advanceTimersByTime(2_000);
    await reader.until(() => payload(reader).slice(before) === ':\n');
    stream.observer.ended(success('a'));
    await reader.until(() => messages(reader).length === 2);
  });

  it('stops reading from the model while the reader accepts nothing, and continues after that', async () => {
    stopClock();
    const { reader, stream } = await open({ partialIntervalMs: 0 });
    await stall(reader, stream);
    expect(stream.paused).toBe(false);
    vi.advanceTimersByTime(2_000);
    expect(stream.paused).toBe(true);
    reader.socket.resume();
    await until(() => !stream.paused);
    stream.observer.ended(success('all'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(reader).at(-1)).toEqual({ final_result: 'all' });
  });

  it('reads on from the model while equal calls can wait for the value, and gives it to them before the reader has it', async () => {
    stopClock();
    const { reader, server, stream } = await open({ partialIntervalMs: 0 }, {}, [], 600_000);
    await stall(reader, stream);
    const equal = fetch(`${server.url}/call/Greet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    await until(() => server.answers.counts.waits === 1);
    vi.advanceTimersByTime(2_000);
    expect(stream.paused).toBe(false);
    stream.observer.ended(success('all'));
    expect(await (await equal).json()).toBe('all');
    expect(server.runtime.calls).toHaveLength(0);
  });

  it('cuts a reader that accepts nothing for too long, and cancels its call', async () => {
    stopClock();
    const { reader, server, stream } = await open({ partialIntervalMs: 0 });
    await stall(reader, stream);
    vi.advanceTimersByTime(29_000);
    expect(stream.context.cancellation.cancelled).toBe(false);
    // The kernel can accept the rest of a write meanwhile, which starts the time limit again.
    for (let seconds = 0; seconds < 120 && !stream.context.cancellation.cancelled; seconds += 1) {
      vi.advanceTimersByTime(1_000);
    }
    expect(stream.context.cancellation.cancelled).toBe(true);
    expect(server.services.active.size).toBe(0);
    expect(await server.services.metricsText('prometheus')).toContain('svc_stream_cuts_total 1');
    reader.socket.resume();
    await reader.until(() => reader.closed);
    const metrics = await server.services.metricsText('prometheus');
    expect(metrics).toMatch(/^svc_tokens_total\{client="\w+",direction="output"\} 2$/mu);
  });

  it('cuts a reader when the backlog is full, and releases its share', async () => {
    const { reader, server, stream } = await open({ partialIntervalMs: 0 }, { maxBacklogBytes: 600_000 });
    await stall(reader, stream);
    expect(server.services.streamBacklog.held).toBeGreaterThan(500_000);
    const second = new RawConnection(server.port);
    connections.push(second);
    second.write(REQUEST);
    await until(() => server.runtime.streams.length === 2);
    const other = server.runtime.streams[1];
    if (other !== undefined) await stall(second, other);
    expect(other?.context.cancellation.reason).toBe('too much data waits for readers that are behind');
    expect(stream.context.cancellation.cancelled).toBe(false);
    reader.socket.resume();
    await until(() => server.services.streamBacklog.held === 0);
    stream.observer.ended(success('all'));
    await reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));
  });

  it('receives the error of a drain as the last message, before and after the first text', async () => {
    const first = await open();
    for (const request of first.server.services.active.list()) request.drain();
    expect((await first.reader.answer()).status).toBe(503);
    const second = await open();
    second.stream.grow('a');
    await second.reader.until(() => messages(second.reader).length === 1);
    for (const request of second.server.services.active.list()) request.drain();
    await second.reader.until(() => second.reader.text.endsWith('\r\n0\r\n\r\n'));
    expect(messages(second.reader).at(-1)).toMatchObject({ error: 'draining' });
    expect(second.stream.context.cancellation.reason).toBe('draining');
  });
});

/** Stops the clock, which then moves only when a test moves it. The sockets have their own clocks. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
}

/** Waits for a round trip to the server: its earlier writes have arrived. */
async function anotherAnswer(server: TestServer): Promise<void> {
  const other = new RawConnection(server.port);
  connections.push(other);
  other.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await other.answer();
}

/** Fills all buffers between the server and a reader that accepts nothing. */
async function stall(reader: RawConnection, stream: ScriptedStream): Promise<void> {
  reader.socket.pause();
  const text = 'x'.repeat(500_000);
  // The kernel can accept more after a while: the reader has stalled once no partial was sent for many turns.
  for (let turn = 0, idle = 0; idle < 40; turn += 1) {
    const { taken } = stream;
    stream.grow(`${turn}${text}`);
    await sleep(2);
    idle = stream.taken === taken ? idle + 1 : 0;
  }
}

/** The body of a chunked answer, as far as it has arrived. */
function payload(reader: RawConnection): string {
  const bytes = reader.received;
  const start = bytes.indexOf('\r\n\r\n');
  const parts: Buffer[] = [];
  let at = start < 0 ? bytes.length : start + 4;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (size === 0 || end + 2 + size > bytes.length) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
}

/** The complete events so far. */
function messages(reader: RawConnection): ReadonlyArray<Record<string, JsonValue>> {
  const lines = payload(reader).split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, JsonValue>);
}
