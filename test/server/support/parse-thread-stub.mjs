// Replaces the thread's entry, which is TypeScript here: follows the commands in the text.
export default function parseStub({ functionName, text }) {
  if (text === 'crash') throw new Error('crashed');
  if (text === 'exhaust') exhaustMemory();
  if (text.startsWith('work')) workFor(Number(text.slice(4)));
  const isTooMuchWork = text === 'too much work';
  if (text === 'bad' || isTooMuchWork) return { ok: false, failure: { message: 'no', details: [] }, isTooMuchWork };
  return {
    ok: true,
    json: JSON.stringify({ functionName, size: text.length }),
    flags: [{ flag: 'markdown', path: '' }],
  };
}

/** Blocks the thread as parsing does: only the end of the thread interrupts it. */
function workFor(milliseconds) {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

function exhaustMemory() {
  const values = [];
  for (;;) values.push(Array.from({ length: 10_000 }, () => ({})));
}
