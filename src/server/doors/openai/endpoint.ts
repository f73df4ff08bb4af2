import { isJsonObject, objectAt, stringAt } from '../../../base/json.ts';
import type { MediaKind } from '../../../schema/type.ts';
import type { ModelFormat } from './answer.ts';
import { type MediaArgument, RequestRefusal, type Turn } from './function-model.ts';
import type { FieldRule } from './request-fields.ts';

type Members = Readonly<Record<string, unknown>>;

/** An endpoint that calls functions. */
export interface ModelEndpoint {
  readonly path: string;
  readonly fields: Readonly<Record<string, FieldRule>>;
  /** Reads the conversation of a request. Throws a RequestRefusal. */
  conversation(body: Members): Conversation;
  format(facts: FormatFacts, body: Members): ModelFormat;
}

/** `param`: the field that has the conversation. */
export interface Conversation {
  readonly turns: readonly Turn[];
  readonly param: string;
}

/** What every part of an answer repeats. `created`: seconds. */
export interface FormatFacts {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Reads the content of a message: a string, or a list of parts. `param` names it. */
export function readContent(content: unknown, param: string): Pick<Turn, 'text' | 'media'> {
  if (typeof content === 'string') return { text: content, media: [] };
  // A message of the assistant that only calls tools.
  if (content === null || content === undefined) return { text: '', media: [] };
  if (!Array.isArray(content)) throw new RequestRefusal(param, `"${param}" has to be a string or a list of parts.`);
  const parts = content.map((part: unknown, index) => readPart(part, `${param}[${index}]`));
  return {
    text: parts.flatMap((part) => (typeof part === 'string' ? [part] : [])).join(''),
    media: parts.flatMap((part) => (typeof part === 'string' ? [] : [part])),
  };
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', 'refusal']);

function readPart(part: unknown, param: string): string | MediaArgument {
  const type = stringAt(part, 'type');
  if (TEXT_TYPES.has(type)) {
    const text = stringAt(part, 'text') ?? stringAt(part, 'refusal');
    if (text === undefined) throw new RequestRefusal(param, `"${param}" has no text.`);
    return text;
  }
  const media = isJsonObject(part) ? readMedia(type, part) : undefined;
  if (media === undefined) {
    throw new RequestRefusal(
      param,
      `svc cannot read "${param}"${type === undefined ? '' : `, of type "${type}"`}: send a text, or an image, a recording or a file with its content or its URL.`,
    );
  }
  return media;
}

/** The media types of the formats of `input_audio`; others are `audio/` and the format. */
const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg' };

function readMedia(type: string | undefined, part: Members): MediaArgument | undefined {
  switch (type) {
    // `image_url` is an object in chat completions, and a string in responses.
    case 'image_url':
    case 'input_image':
      return mediaOf('image', stringAt(part, 'image_url') ?? stringAt(objectAt(part, 'image_url'), 'url'));
    case 'video_url':
      return mediaOf('video', stringAt(objectAt(part, 'video_url'), 'url'));
    case 'input_audio': {
      const audio = objectAt(part, 'input_audio');
      const [base64, format] = [stringAt(audio, 'data'), stringAt(audio, 'format')];
      if (base64 === undefined || format === undefined) return undefined;
      const known = Object.hasOwn(AUDIO_TYPES, format) ? AUDIO_TYPES[format] : undefined;
      return { media: 'audio', value: { base64, media_type: known ?? `audio/${format}` } };
    }
    case 'file':
      return fileOf(objectAt(part, 'file'));
    case 'input_file':
      return fileOf(part);
    default:
      return undefined;
  }
}

function fileOf(file: Members | undefined): MediaArgument | undefined {
  const data = stringAt(file, 'file_data');
  if (data !== undefined && !data.startsWith('data:')) {
    return { media: 'pdf', value: { base64: data, media_type: 'application/pdf' } };
  }
  return mediaOf('pdf', data ?? stringAt(file, 'file_url'));
}

const DATA_URL = /^data:(?<type>[^;,]+)(?:;[^;,]*)*;base64,/i;

/** Turns a URL into an argument. The media type of a `data:` URL decides the kind of a file. */
function mediaOf(kind: MediaKind, url: string | undefined): MediaArgument | undefined {
  if (url === undefined || url === '') return undefined;
  const head = DATA_URL.exec(url.slice(0, LONGEST_HEAD));
  const type = head?.groups?.['type'];
  if (head === null || type === undefined) return { media: kind, value: { url } };
  const [family = ''] = type.toLowerCase().split('/');
  const media = kind === 'pdf' && isFamily(family) ? family : kind;
  return { media, value: { base64: url.slice(head[0].length), media_type: type } };
}

/** Of the part of a `data:` URL before its content. */
const LONGEST_HEAD = 256;

function isFamily(family: string): family is 'image' | 'audio' | 'video' {
  return family === 'image' || family === 'audio' || family === 'video';
}
