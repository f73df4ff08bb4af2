import { err, ok } from '../../../base/result.ts';
import { googleFormat } from '../wire/google-format.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { googleContents } from './google-contents.ts';
import { urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';

/** The Gemini API: https://ai.google.dev/api/generate-content */
export const googleAi: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  keyVariable: 'GOOGLE_API_KEY',
  defaultUrl: 'https://generativelanguage.googleapis.com/v1beta',
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = urlOf(googleAi, options, reader);
  const model = reader.string('model');
  if (model === undefined) reader.fault('model', 'is required: it is part of the URL');
  return {
    url,
    ...(model === undefined ? {} : { model }),
    mediaUrls: { image: 'send_base64' },
    protocol: (apiKey) => {
      const headers = requestHeaders(options, { 'x-goog-api-key': apiKey });
      return googleProtocol({ base: `${url}/models/${modelPath(model ?? '')}`, options, headers });
    },
  };
}

/** A model's name as one or more segments of a path: `tunedModels/x` keeps its slash, nothing climbs up. */
export function modelPath(model: string): string {
  const segments = model.split('/').map((segment) => encodeURIComponent(segment));
  return segments.map((segment) => (/^\.+$/u.test(segment) ? '_' : segment)).join('/');
}

/** generateContent under a model's URL: shared by the Gemini API and Vertex AI. */
export function googleProtocol(parts: {
  readonly base: string;
  readonly options: ClientOptions;
  readonly headers: readonly string[];
}): ReadyProtocol {
  const { base, options, headers } = parts;
  const whole = requestPath(base, ':generateContent', options);
  const stream = requestPath(base, ':streamGenerateContent?alt=sse', options);
  const members = Object.fromEntries(options.body);
  return {
    format: replyFormat(options, googleFormat),
    call(messages, streamed) {
      const wire = googleContents(messages, options);
      if (!wire.ok) return err(wire.failure);
      return ok({ path: streamed ? stream : whole, headers, body: JSON.stringify({ ...members, ...wire.value }) });
    },
  };
}
