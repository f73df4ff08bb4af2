import { EventSplitter } from './server-sent-events.js';

/** Events in the list under the value; the complete response has the older ones too. */
const MAX_EVENTS = 200;

/**
 * The view of one stream. Each change creates a new object, so that React can compare.
 * `state`: waiting, streaming, final, failed, stopped or cut.
 */
const BEGINNING = {
  state: 'waiting',
  value: undefined,
  partials: 0,
  resets: 0,
  error: undefined,
  events: [],
  firstMs: undefined,
  elapsedMs: 0,
};

/** The streams of this page by path, and a fetch that feeds them. */
class LiveStreams {
  #streams = new Map();
  #listeners = new Set();
  #frame = 0;

  /** The current view of the stream of this path; undefined before its first request. */
  get(path) {
    return this.#streams.get(path)?.view;
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(path) {
    this.#streams.get(path)?.abort.abort();
  }

  clear(path) {
    this.stop(path);
    this.#streams.delete(path);
    this.#announce();
  }

  /** Removes a stream unless a newer one has replaced it. */
  #drop(path, stream) {
    if (this.#streams.get(path) !== stream) return;
    this.#streams.delete(path);
    this.#announce();
  }

  /**
   * Like fetch, but updates the view with every event while it arrives; resolves with a response that contains the whole
   * text. Passes on an answer that is not a stream.
   */
  async fetch(path, url, init) {
    this.stop(path);
    const stream = { view: BEGINNING, abort: new AbortController(), startedAt: performance.now() };
    this.#streams.set(path, stream);
    this.#announce();
    const response = await fetch(url, { ...init, signal: stream.abort.signal }).catch((error) => {
      this.#drop(path, stream);
      throw error;
    });
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
      this.#drop(path, stream);
      return response;
    }
    const text = await this.#read(stream, response.body.pipeThrough(new TextDecoderStream()).getReader());
    const { status, statusText, headers } = response;
    return new Response(text, { status, statusText, headers });
  }

  async #read(stream, reader) {
    const splitter = new EventSplitter();
    let text = '';
    try {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        text += chunk.value;
        for (const data of splitter.push(chunk.value)) this.#take(stream, data);
      }
      if (stream.view.state === 'waiting' || stream.view.state === 'streaming') this.#change(stream, { state: 'cut' });
    } catch {
      this.#change(stream, { state: stream.abort.signal.aborted ? 'stopped' : 'cut' });
    }
    return text;
  }

  #take(stream, data) {
    const { view } = stream;
    const events = [...view.events, data].slice(-MAX_EVENTS);
    const firstMs = view.firstMs ?? performance.now() - stream.startedAt;
    this.#change(stream, { events, firstMs, ...meaning(JSON.parse(data), view) });
  }

  #change(stream, change) {
    stream.view = { ...stream.view, ...change, elapsedMs: performance.now() - stream.startedAt };
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

/** The changes of a view by an event. */
export function meaning(event, view) {
  if (Object.hasOwn(event, 'partial_result')) {
    return { state: 'streaming', value: event.partial_result, partials: view.partials + 1 };
  }
  if (Object.hasOwn(event, 'final_result')) {
    const { final_result: value, warnings = [], more_warnings: more = 0 } = event;
    return { state: 'final', value, warnings: warnings.length + more };
  }
  if (Object.hasOwn(event, 'reset')) return { state: 'waiting', value: undefined, resets: view.resets + 1 };
  return { state: 'failed', error: event };
}

export const liveStreams = new LiveStreams();
