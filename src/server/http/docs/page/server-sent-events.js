/**
 * Splits the text of a `text/event-stream` into the data of its events, whatever the chunks (WHATWG HTML, "Server-sent events").
 * Ignores fields other than `data`.
 */
export class EventSplitter {
  #rest = '';
  #data = [];

  /** Reads the next chunk and returns the data of the events that it completes. */
  push(chunk) {
    const events = [];
    // A carriage return at the end can be the first half of a line break.
    const text = this.#rest + chunk;
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/u);
    this.#rest = lines.pop() + text.slice(end);
    for (const line of lines) this.#line(line, events);
    return events;
  }

  #line(line, events) {
    if (line === '' && this.#data.length > 0) events.push(this.#data.splice(0).join('\n'));
    if (line === 'data') this.#data.push('');
    if (line.startsWith('data:')) this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
  }
}
