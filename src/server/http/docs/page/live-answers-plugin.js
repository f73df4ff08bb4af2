import { isUnderWay, liveAnswers } from './live-answers.js';

const STATES = {
  waiting: 'Waiting for the model …',
  streaming: 'Streaming',
  final: 'Result',
  failed: 'Failed',
  stopped: 'Stopped',
  cut: 'Connection lost before the result was complete',
};

/** Shows the answer of a function's endpoint above its responses, a stream while it grows. */
export function liveAnswersPlugin({ React }) {
  const h = React.createElement;

  function LivePanel({ path }) {
    const view = React.useSyncExternalStore(
      (listener) => liveAnswers.subscribe(listener),
      () => liveAnswers.get(path),
    );
    const section = React.useRef(null);
    const shown = view !== undefined;
    React.useEffect(() => {
      // An effect must not return the result of this call: it is a Promise in some browsers.
      section.current?.scrollIntoView({ block: 'nearest' });
    }, [shown]);
    if (!shown) return null;
    return h(
      'section',
      { className: `live live-${view.state}`, 'aria-label': 'Answer', ref: section },
      h(
        'header',
        { className: 'live-head' },
        h('strong', { className: 'live-state', role: 'status' }, stateText(view)),
        h('span', { className: 'live-figures' }, figures(view)),
        isUnderWay(view)
          ? h('button', { type: 'button', onClick: () => liveAnswers.stop(path) }, 'Stop')
          : h('button', { type: 'button', onClick: () => liveAnswers.clear(path) }, 'Close'),
      ),
      h('pre', { className: 'live-value', tabIndex: 0 }, text(view)),
      view.events.length > 0 && h(Details, { title: `Events (${view.events.length})`, lines: () => view.events }),
      view.headers.length > 0 && h(Details, { title: 'Headers', lines: () => view.headers.map((pair) => pair.join(': ')) }),
    );
  }

  /** Lines that the user can unfold; created only when they are visible. */
  function Details({ title, lines }) {
    const [open, setOpen] = React.useState(false);
    return h(
      'details',
      { className: 'live-details', onToggle: (event) => setOpen(event.currentTarget.open) },
      h('summary', null, title),
      open ? h('pre', { tabIndex: 0 }, lines().join('\n')) : null,
    );
  }

  function withPanel(Responses) {
    return (props) =>
      h(React.Fragment, null, h(LivePanel, { path: props.path, key: 'live' }), h(Responses, { ...props, key: 'all' }));
  }

  return { wrapComponents: { responses: withPanel } };
}

function stateText({ state, status }) {
  return state === 'failed' && status >= 400 ? `${STATES.failed} with ${status}` : STATES[state];
}

function text(view) {
  const shown = view.state === 'failed' ? view.error : view.value;
  if (shown === undefined) return '';
  return typeof shown === 'string' && view.state === 'failed' ? shown : JSON.stringify(shown, null, 2);
}

/** Who answered and the tokens: from the last message of a stream, or from the headers. */
function usageOf({ headers, meta }) {
  if (meta !== undefined) {
    const { client, attempts, usage } = meta;
    return { client: client?.name, model: client?.model, attempts: attempts?.length, ...usage };
  }
  const values = new Map(headers);
  return {
    client: values.get('x-svc-client'),
    model: values.get('x-svc-model'),
    attempts: Number(values.get('x-svc-attempts') ?? 1),
    input_tokens: values.get('x-svc-input-tokens'),
    output_tokens: values.get('x-svc-output-tokens'),
  };
}

/** Returns one line with the client, the tokens and the time. */
function figures(view) {
  const usage = usageOf(view);
  const { partials, resets, warnings, firstMs, elapsedMs } = view;
  const streams = view.events.length > 0;
  return [
    ...answeredBy(usage.client, usage.model),
    ...several(usage.attempts, 'attempts'),
    ...tokens(usage.input_tokens, usage.output_tokens),
    ...(streams ? [partials === 1 ? '1 partial' : `${partials} partials`] : []),
    ...(firstMs === undefined ? [] : [`first after ${milliseconds(firstMs)}`]),
    ...(elapsedMs > 0 ? [`${milliseconds(elapsedMs)} in total`] : []),
    ...(resets > 0 ? [resets === 1 ? '1 restart' : `${resets} restarts`] : []),
    ...(warnings > 0 ? [warnings === 1 ? '1 warning' : `${warnings} warnings`] : []),
  ].join(' · ');
}

function answeredBy(client, model) {
  if (client === undefined) return [];
  return [model === undefined || model === client ? client : `${client} (${model})`];
}

function several(count, name) {
  return count > 1 ? [`${count} ${name}`] : [];
}

function tokens(input, output) {
  return input === undefined && output === undefined ? [] : [`${input ?? '?'} tokens in, ${output ?? '?'} out`];
}

function milliseconds(duration) {
  return duration < 1000 ? `${Math.round(duration)} ms` : `${(duration / 1000).toFixed(1)} s`;
}
