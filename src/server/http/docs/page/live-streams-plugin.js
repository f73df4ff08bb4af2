import { liveStreams } from './live-streams.js';

const STATES = {
  waiting: 'Waiting for the model …',
  streaming: 'Streaming',
  final: 'Final result',
  failed: 'Failed',
  stopped: 'Stopped',
  cut: 'Connection lost before the final result',
};

/** Shows the growing value above the responses of a /stream operation. */
export function liveStreamsPlugin({ React }) {
  const h = React.createElement;

  function LivePanel({ path }) {
    const view = React.useSyncExternalStore(
      (listener) => liveStreams.subscribe(listener),
      () => liveStreams.get(path),
    );
    const section = React.useRef(null);
    const shown = view !== undefined;
    React.useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [shown]);
    if (!shown) return null;
    const running = view.state === 'waiting' || view.state === 'streaming';
    return h(
      'section',
      { className: `live live-${view.state}`, 'aria-label': 'Live stream', ref: section },
      h(
        'header',
        { className: 'live-head' },
        h('strong', { className: 'live-state', role: 'status' }, STATES[view.state]),
        h('span', { className: 'live-figures' }, figures(view)),
        running
          ? h('button', { type: 'button', onClick: () => liveStreams.stop(path) }, 'Stop')
          : h('button', { type: 'button', onClick: () => liveStreams.clear(path) }, 'Close'),
      ),
      h('pre', { className: 'live-value', tabIndex: 0 }, text(view)),
      h(EventList, { events: view.events }),
    );
  }

  function EventList({ events }) {
    const [open, setOpen] = React.useState(false);
    return h(
      'details',
      { className: 'live-events', onToggle: (event) => setOpen(event.currentTarget.open) },
      h('summary', null, `Events (${events.length})`),
      open ? h('pre', { tabIndex: 0 }, events.join('\n')) : null,
    );
  }

  function withPanel(Responses) {
    return (props) =>
      h(React.Fragment, null, h(LivePanel, { path: props.path, key: 'live' }), h(Responses, { ...props, key: 'all' }));
  }

  return { wrapComponents: { responses: withPanel } };
}

function text(view) {
  const shown = view.state === 'failed' ? view.error : view.value;
  return shown === undefined ? '' : JSON.stringify(shown, null, 2);
}

function figures({ partials, resets, warnings = 0, firstMs, elapsedMs }) {
  const parts = [partials === 1 ? '1 partial' : `${partials} partials`];
  if (firstMs !== undefined) parts.push(`first after ${milliseconds(firstMs)}`);
  if (elapsedMs > 0) parts.push(`${milliseconds(elapsedMs)} in total`);
  if (resets > 0) parts.push(resets === 1 ? '1 restart' : `${resets} restarts`);
  if (warnings > 0) parts.push(warnings === 1 ? '1 warning' : `${warnings} warnings`);
  return parts.join(' · ');
}

function milliseconds(duration) {
  return duration < 1000 ? `${Math.round(duration)} ms` : `${(duration / 1000).toFixed(1)} s`;
}
