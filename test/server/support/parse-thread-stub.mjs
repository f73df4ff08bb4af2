// Stands in for the thread's entry, which is TypeScript here: answers what the text says.
export default async function parseStub({ functionName, text }) {
  if (text === 'crash') throw new Error('crashed');
  if (text.startsWith('wait')) await new Promise((resolve) => setTimeout(resolve, Number(text.slice(4))));
  if (text === 'bad') return { ok: false, failure: { message: 'no', details: [] } };
  return {
    ok: true,
    json: JSON.stringify({ functionName, size: text.length }),
    flags: [{ flag: 'markdown', path: '' }],
  };
}
