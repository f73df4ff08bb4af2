import type { Page, Route } from 'playwright-core';
import type { CallFeedback, CallSeries, KeptCall, ListedCall } from '../../src/schema/kept-call.ts';
import type { PlaygroundCalls } from '../../src/schema/playground-document.ts';

/** What the server of a test keeps, which the test can change while the page is open. */
export interface FakeCalls {
  calls: readonly KeptCall[];
  support: PlaygroundCalls;
  series: readonly CallSeries[];
  dropped: number;
  /** How many calls a search looks at before it answers. */
  searched: number;
  /** The answer to every request for calls instead of the true one. */
  failure: { readonly status: number; readonly body: object } | undefined;
  /** Answers wait for it. */
  delay: Promise<void> | undefined;
  /** The queries of the requests for lists. */
  readonly queries: string[];
  /** The bodies of the other requests, by path. */
  readonly bodies: Array<{ readonly path: string; readonly body: unknown }>;
}

export function fakeCalls(changes: Partial<FakeCalls> = {}): FakeCalls {
  return {
    calls: [],
    support: { content: 'all', canSave: true },
    series: [],
    dropped: 0,
    searched: 50,
    failure: undefined,
    delay: undefined,
    queries: [],
    bodies: [],
    ...changes,
  };
}

/** Answers the requests of a page for kept calls. All others reach the server of the page. */
export function serveFakeCalls(fake: FakeCalls): (page: Page) => Promise<void> {
  return async (page) => {
    await page.route('**/playground/program.json', async (route) => {
      const response = await route.fetch({ headers: {} });
      await route.fulfill({ json: { ...((await response.json()) as object), calls: fake.support } });
    });
    await page.route(/\/playground\/(?:calls|charts)|\/feedback\//u, async (route) => {
      await fake.delay;
      if (fake.failure === undefined) await answer(route, fake);
      else await route.fulfill({ status: fake.failure.status, json: fake.failure.body });
    });
  };
}

async function answer(route: Route, fake: FakeCalls): Promise<void> {
  const request = route.request();
  const { pathname, searchParams } = new URL(request.url());
  const [, page = '', name = '', action = ''] =
    /\/(charts|calls|feedback)(?:\/([^/]+))?(\/test)?$/u.exec(pathname) ?? [];
  if (request.method() === 'POST') fake.bodies.push({ path: pathname, body: request.postDataJSON() });
  const call = fake.calls.find(({ seq, requestId }) => String(seq) === name || requestId === name);
  if (page === 'charts') await route.fulfill({ json: { series: fake.series } });
  else if (name === '') await route.fulfill({ json: list(searchParams, fake) });
  else if (call === undefined) {
    await route.fulfill({
      status: 404,
      json: { error: 'not_found', message: 'There is no such call.', request_id: 'r' },
    });
  } else if (page === 'feedback') {
    addFeedback(fake, call, request.postDataJSON() as Partial<CallFeedback>);
    await route.fulfill({ json: { stored: true } });
  } else if (action === '') await route.fulfill({ json: call });
  else {
    const { name: test } = request.postDataJSON() as { readonly name: string };
    const saved = { test: `test ${test} {\n  functions [${call.functionName}]\n}`, path: 'svc_src/main.svc' };
    await route.fulfill({ json: { ...saved, recording: `svc_src/recordings/${test}.json` } });
  }
}

function addFeedback(fake: FakeCalls, call: KeptCall, given: Partial<CallFeedback>): void {
  const feedback = { at: Date.now(), key: null, score: null, label: null, comment: null, value: null, ...given };
  const { label, score } = feedback;
  fake.calls = fake.calls.map((each) =>
    each === call ? { ...each, label, score, feedback: [...each.feedback, feedback] } : each,
  );
}

/** Fits calls as the server does, as far as the tests need it. */
function list(query: URLSearchParams, fake: FakeCalls): object {
  fake.queries.push(query.toString());
  const before = Number(query.get('before') ?? Infinity);
  const older = fake.calls.filter(({ seq }) => seq < before).toSorted((a, b) => b.seq - a.seq);
  const searched = older.slice(0, fake.searched);
  const next = searched.length < older.length ? (searched.at(-1)?.seq ?? null) : null;
  return {
    calls: searched.filter((call) => fits(call, query)).map(listed),
    next,
    searchedTo: searched.at(-1)?.at ?? null,
    dropped: fake.dropped,
  };
}

function fits(call: KeptCall, query: URLSearchParams): boolean {
  const is = (name: string, value: string | null): boolean => !query.has(name) || query.get(name) === value;
  return (
    is('function', call.functionName) &&
    is('client', call.client) &&
    (is('error', call.error) || (query.get('error') === 'any' && call.error !== null)) &&
    (!query.has('lossy') || call.lossy) &&
    (!query.has('text') || JSON.stringify(call.content).includes(query.get('text') ?? '')) &&
    call.ms >= Number(query.get('slow') ?? 0)
  );
}

function listed({ content: _content, feedback: _feedback, ...call }: KeptCall): ListedCall {
  return call;
}
