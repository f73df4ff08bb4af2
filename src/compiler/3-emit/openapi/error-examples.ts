import type { JsonObject } from '../../../base/json.ts';

/** One body for each error status, so that readers see what to expect instead of every field at once. */
const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  '400': {
    error: 'invalid_argument',
    message: 'The arguments do not fit the function "ExtractResume". resume.name: expected a string, got an int',
    details: [{ path: 'resume.name', message: 'expected a string, got an int' }],
  },
  '403': { error: 'Unauthorized', message: 'The key is missing or wrong.' },
  '404': {
    error: 'function_not_found',
    message: 'There is no function "ExtractResme". Did you mean "ExtractResume"?',
    suggestions: ['ExtractResume'],
  },
  '405': { error: 'method_not_allowed', message: 'This path takes POST.' },
  '408': { error: 'request_timeout', message: 'The body did not arrive in time.' },
  '413': { error: 'payload_too_large', message: 'The body is larger than 10485760 bytes.' },
  '415': { error: 'unsupported_media_type', message: 'The content type has to be application/json.' },
  '431': { error: 'headers_too_large', message: 'The headers are too large.' },
  '500': {
    error: 'validation_failure',
    message: 'The reply does not fit the return type.',
    details: [{ path: 'name', message: 'missing' }],
    raw_output: 'I cannot help with that.',
  },
  '501': { error: 'not_implemented', message: 'This method is not supported.' },
  '502': {
    error: 'client_error',
    message: 'The provider answered 429.',
    client: 'Fast',
    upstream_status: 429,
    attempts: [{ client: 'Fast', outcome: 'client_error', upstream_status: 429, duration_ms: 87 }],
  },
  '503': { error: 'overloaded', message: 'Too many calls at once.' },
  '504': { error: 'timeout', message: 'The model took too long.', timer: 'request', after_ms: 300_000 },
};

/** The example body of a status. */
export function errorExample(status: string): JsonObject {
  return { ...EXAMPLES[status], request_id: '7eb8401f3769-2' };
}
