// Entry file: the events of text in recorded streams: how many are read without JSON.parse, and the CPU time of each, next to
// parsing every event.
//
// Usage: node dist/bench/captured-events.js <folder of *.jsonl>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SseReader } from '../src/runtime/model/http/sse-reader.ts';
import { anthropicFormat } from '../src/runtime/model/providers/anthropic.ts';
import { googleFormat } from '../src/runtime/model/providers/google-ai.ts';
import { openAiChatFormat, openAiResponsesFormat } from '../src/runtime/model/providers/openai.ts';
import type { ReplyFormat } from '../src/runtime/model/wire/reply-format.ts';
import { TextShape, WireStream } from '../src/runtime/model/wire/wire-stream.ts';
import { compareCpu } from './cpu-time.ts';

const FORMATS: Readonly<Record<string, ReplyFormat>> = {
  anthropic: anthropicFormat,
  'google-ai': googleFormat,
  'vertex-ai': googleFormat,
  'openai-responses': openAiResponsesFormat,
};

/** A stream is played again until its text has this many events, so that learning its shape does not count alone. */
const PLAYED_EVENTS = 500;
/** Shorter streams are left out: the first events of a stream teach its shape. */
const FEWEST_EVENTS = 3;

interface Stream {
  readonly name: string;
  readonly format: ReplyFormat;
  /** The data of the events with text. */
  readonly events: readonly string[];
}

function main([folder]: readonly string[]): number {
  if (folder === undefined) {
    console.error('usage: node dist/bench/captured-events.js <folder of *.jsonl>');
    return 2;
  }
  const streams = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => streamsIn(readFileSync(join(folder, name), 'utf8')));
  const names = [...new Set(streams.map(({ name }) => name))];
  console.log('| provider and service | events of text | read without JSON.parse | µs each | µs parsed | ratio |');
  console.log('|---|---|---|---|---|---|');
  for (const name of names)
    console.log(
      rowOf(
        name,
        streams.filter((each) => each.name === name),
      ),
    );
  return 0;
}

function streamsIn(lines: string): readonly Stream[] {
  return lines.split('\n').flatMap((line): readonly Stream[] => {
    if (line === '') return [];
    const { family, service, stream, body, status } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (stream !== true || status !== 200 || typeof body !== 'string') return [];
    const format = FORMATS[String(family)] ?? openAiChatFormat;
    const events = eventsIn(body).filter((data) => hasText(format, data));
    return events.length < FEWEST_EVENTS ? [] : [{ name: `${String(family)} ${String(service)}`, format, events }];
  });
}

function eventsIn(body: string): readonly string[] {
  const events: string[] = [];
  const reader = new SseReader((text, start, end) => events.push(text.slice(start, end)));
  reader.push(Buffer.from(body));
  reader.end();
  return events;
}

function hasText(format: ReplyFormat, data: string): boolean {
  const event = data.startsWith('{') ? (JSON.parse(data) as Readonly<Record<string, unknown>>) : {};
  const { text = '', finishReason = '', done } = format.readEvent(event, {});
  return text !== '' && finishReason === '' && done === undefined;
}

function rowOf(name: string, streams: readonly Stream[]): string {
  const count = streams.reduce((sum, { events }) => sum + events.length, 0);
  // A client keeps the shape of its streams.
  const shape = new TextShape();
  const parsed = streams.reduce((sum, stream) => sum + parsesOf(stream, shape), 0);
  const played = streams.map(({ format, events }) => ({
    format,
    events: Array.from({ length: Math.ceil(PLAYED_EVENTS / events.length) }, () => events).flat(),
  }));
  const total = played.reduce((sum, { events }) => sum + events.length, 0);
  const { fast, slow } = compareCpu({
    fast: () => played.forEach(({ format, events }) => read(format, events)),
    slow: () => played.forEach(({ format, events }) => parseAll(format, events)),
  });
  const share = `${(((count - parsed) / count) * 100).toFixed(0)} %`;
  const [own, other] = [fast / total, slow / total];
  return `| ${name} | ${count} | ${share} | ${own.toFixed(2)} | ${other.toFixed(2)} | ${(own / other).toFixed(2)} |`;
}

function read(format: ReplyFormat, events: readonly string[]): string {
  const stream = new WireStream(format);
  for (const data of events) stream.event(data, 0, data.length);
  return stream.takeText();
}

function parseAll(format: ReplyFormat, events: readonly string[]): string {
  let text = '';
  for (const data of events) text += format.readEvent(JSON.parse(data) as Readonly<Record<string, unknown>>, {}).text;
  return text;
}

/** The events that a stream parses; those that it learns from count as one each. */
function parsesOf({ format, events }: Stream, shape: TextShape): number {
  let parses = 0;
  const counted: ReplyFormat = {
    ...format,
    readEvent: (event, known) => {
      parses += 1;
      return format.readEvent(event, known);
    },
  };
  const stream = new WireStream(counted, {}, shape);
  let slow = 0;
  for (const data of events) {
    const before = parses;
    stream.event(data, 0, data.length);
    if (parses > before) slow += 1;
  }
  return slow;
}

process.exitCode = main(process.argv.slice(2));
