import { EventSplitter } from './server-sent-events.js';

/** Events in the list under the value; the response that Swagger UI keeps has the older ones too. */
const MAX_EVENTS = 200;

/**
 * The view of one answer. Each change creates a new object, so that React can compare.
 * `state`: waiting, streaming, final, failed, stopped or cut. `headers`: pairs of name and value. `meta`: facts about a
 * stream, such as its client.
 */
const BEGINNING = {
  state: 'waiting',
  status: undefined,
  headers: [],
  value: undefined,
  partials: 0,
  resets: 0,
  warnings: 0,
  meta: undefined,
  error: undefined,
  events: [],
  firstMs: undefined,
  elapsedMs: 0,
};

/** The last answer of each function's endpoints on this page, by path, and a fetch that feeds them. */
class LiveAnswers {
  #requests = new Map();
  #listeners = new Set();
  #frame = 0;

  /** The current view of the answer of this path; undefined before its first request. */
  get(path) {
    return this.#requests.get(path)?.view;
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(path) {
    this.#requests.get(path)?.abort.abort();
  }

  clear(path) {
    this.stop(path);
    this.#requests.delete(path);
    this.#announce();
  }

  /**
   * Like fetch, but updates the view while the answer arrives; resolves with a response that contains the whole text. A stream
   * that is stopped or cut resolves with the text so far.
   */
  async fetch(path, url, init) {
    this.stop(path);
    const request = { view: BEGINNING, abort: new AbortController(), startedAt: performance.now() };
    this.#requests.set(path, request);
    this.#announce();
    const response = await fetch(url, { ...init, signal: request.abort.signal }).catch((error) => {
      this.#change(request, interruption(request));
      throw error;
    });
    const { status, statusText, headers } = response;
    this.#change(request, { status, headers: [...headers] });
    const streams = (headers.get('content-type') ?? '').startsWith('text/event-stream');
    const text = streams ? await this.#readEvents(request, response) : await this.#readWhole(request, response);
    return new Response(text, { status, statusText, headers });
  }

  async #readWhole(request, response) {
    const text = await response.text().catch((error) => {
      this.#change(request, interruption(request));
      throw error;
    });
    const value = parsed(text);
    this.#change(request, response.ok ? { state: 'final', value } : { state: 'failed', error: value });
    return text;
  }

  async #readEvents(request, response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const splitter = new EventSplitter();
    let text = '';
    try {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        text += chunk.value;
        for (const data of splitter.push(chunk.value)) this.#take(request, data);
      }
      if (isUnderWay(request.view)) this.#change(request, { state: 'cut' });
    } catch {
      this.#change(request, interruption(request));
    }
    return text;
  }

  #take(request, data) {
    const { view } = request;
    const events = [...view.events, data].slice(-MAX_EVENTS);
    const firstMs = view.firstMs ?? performance.now() - request.startedAt;
    this.#change(request, { events, firstMs, ...meaning(JSON.parse(data), view) });
  }

  #change(request, change) {
    request.view = { ...request.view, ...change, elapsedMs: performance.now() - request.startedAt };
    this.#announce();
  }

  /** At most once per frame: a fast stream must not make the page stutter. */
  #announce() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      for (const listener of this.#listeners) listener();
    });
  }
}

export function isUnderWay(view) {
  return view.state === 'waiting' || view.state === 'streaming';
}

function interruption(request) {
  return { state: request.abort.signal.aborted ? 'stopped' : 'cut' };
}

/** The value of JSON text, or the text itself: a proxy in between can answer with a page of its own. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The changes of a view by an event. */
export function meaning(event, view) {
  if (Object.hasOwn(event, 'partial_result')) {
    return { state: 'streaming', value: event.partial_result, partials: view.partials + 1 };
  }
  if (Object.hasOwn(event, 'final_result')) {
    const { final_result: value, warnings = [], more_warnings: more = 0, meta } = event;
    return { state: 'final', value, warnings: warnings.length + more, meta };
  }
  // The text or the reasoning of the model, if the user asks for it.
  if (Object.hasOwn(event, 'text') || Object.hasOwn(event, 'reasoning')) return { state: 'streaming' };
  if (Object.hasOwn(event, 'reset')) return { state: 'waiting', value: undefined, resets: view.resets + 1 };
  return { state: 'failed', error: event };
}

export const liveAnswers = new LiveAnswers();
