import type { JsonObject } from '../../../base/json.ts';
import { errorExample } from './error-examples.ts';

interface ErrorStatus {
  readonly name: string;
  readonly status: string;
  readonly description: string;
  readonly headers?: readonly string[];
}

/** Every error status that an endpoint of a function can answer. */
const ERROR_STATUSES: readonly ErrorStatus[] = [
  {
    name: 'BadRequest',
    status: '400',
    description:
      'The body is no JSON (`invalid_json`), does not match the signature (`invalid_argument`), or has wrong options (`invalid_options`); or the request is not framed as HTTP wants it (`bad_request`).',
  },
  { name: 'Forbidden', status: '403', description: 'The key is missing or wrong (`Unauthorized`).' },
  { name: 'NotFound', status: '404', description: 'No such function (`function_not_found`) or path (`not_found`).' },
  {
    name: 'MethodNotAllowed',
    status: '405',
    description: 'The path takes another method (`method_not_allowed`).',
    headers: ['Allow'],
  },
  { name: 'RequestTimeout', status: '408', description: 'The body did not arrive in time (`request_timeout`).' },
  { name: 'PayloadTooLarge', status: '413', description: 'The body is larger than the limit (`payload_too_large`).' },
  {
    name: 'UnsupportedMediaType',
    status: '415',
    description: 'The content type is not `application/json` (`unsupported_media_type`).',
  },
  { name: 'HeadersTooLarge', status: '431', description: 'The headers are too large (`headers_too_large`).' },
  {
    name: 'InternalError',
    status: '500',
    description:
      'The reply does not fit the return type (`validation_failure`), the model stopped for a reason that does not count (`finish_reason_error`), a key is missing (`missing_credential`), the prompt cannot be rendered (`prompt_error`), or a fault of the server (`internal_error`).',
  },
  { name: 'NotImplemented', status: '501', description: 'The method is none of HTTP (`not_implemented`).' },
  {
    name: 'BadGateway',
    status: '502',
    description: 'The provider could not be reached or answered an error (`client_error`).',
  },
  {
    name: 'Unavailable',
    status: '503',
    description: 'Too many calls at once (`overloaded`), or the server is going down (`draining`).',
    headers: ['RetryAfter'],
  },
  { name: 'GatewayTimeout', status: '504', description: 'The model took too long (`timeout`).' },
];

const HEADER_NAMES: Readonly<Record<string, string>> = { Allow: 'allow', RetryAfter: 'retry-after' };

export interface ErrorOptions {
  /** Without a key nobody is turned away for want of one. */
  readonly apiKey: boolean;
}

function possibleErrors({ apiKey }: ErrorOptions): readonly ErrorStatus[] {
  return ERROR_STATUSES.filter(({ status }) => apiKey || status !== '403');
}

/** The shared responses of the document. */
export function errorResponseComponents(errorSchema: JsonObject, options: ErrorOptions): JsonObject {
  return Object.fromEntries(
    possibleErrors(options).map(({ name, status, description, headers = [] }) => {
      const all = ['RequestId', ...headers].map((header) => [
        HEADER_NAMES[header] ?? 'x-request-id',
        headerRef(header),
      ]);
      const content = { 'application/json': { schema: errorSchema, example: errorExample(status) } };
      return [name, { description, headers: Object.fromEntries(all), content }];
    }),
  );
}

/** References by status, to stand beside the success of an operation. */
export function errorResponses(options: ErrorOptions): JsonObject {
  return Object.fromEntries(possibleErrors(options).map(({ name, status }) => [status, errorResponse(name)]));
}

/** A reference to one shared response. */
export function errorResponse(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

/** A reference to a shared header. */
export function headerRef(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}
