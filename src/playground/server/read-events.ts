/** Reads the data of server-sent events from a response; calls `take` with each as soon as it is complete. */
export async function readEvents(body: ReadableStream<Uint8Array>, take: (data: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const events = (rest + decoder.decode(chunk.value, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split('\n').filter((line) => line.startsWith('data:'));
      if (lines.length > 0) take(lines.map((line) => line.slice(5).trimStart()).join('\n'));
    }
  }
}
