import { EventSplitter } from './server-sent-events.js';

/** Events kept for the list under the value; older ones are in the whole response. */
const MAX_EVENTS = 200;

/**
 * What is known of one try-out of a stream. A new object for each change, so that views can compare.
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

  /** What the stream of that path is now; undefined when it was not tried. */
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

  /** Unless another one has taken its place. */
  #drop(path, stream) {
    if (this.#streams.get(path) !== stream) return;
    this.#streams.delete(path);
    this.#announce();
  }

  /**
   * As fetch, but tells the views of every event while it arrives; the response that it resolves to holds the whole
   * text. An answer that is no stream is passed on as it is.
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
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        text += piece.value;
        for (const data of splitter.push(piece.value)) this.#take(stream, data);
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

/** What an event changes. */
export function meaning(event, view) {
  if (Object.hasOwn(event, 'partial_result')) {
    return { state: 'streaming', value: event.partial_result, partials: view.partials + 1 };
  }
  if (Object.hasOwn(event, 'final_result')) return { state: 'final', value: event.final_result };
  if (Object.hasOwn(event, 'reset')) return { state: 'waiting', value: undefined, resets: view.resets + 1 };
  return { state: 'failed', error: event };
}

export const liveStreams = new LiveStreams();
