/**
 * The attributes of spans and metrics that the semantic conventions of OpenTelemetry define. The package of the conventions has
 * the same names, but loading it takes each worker 3.5 MB.
 */
export const CONVENTIONS = {
  requestMethod: 'http.request.method',
  responseStatus: 'http.response.status_code',
  route: 'http.route',
  urlPath: 'url.path',
  urlScheme: 'url.scheme',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrittenTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
} as const;

/** The attributes that svc defines. */
export const OWN = {
  function: 'svc.function',
  client: 'svc.client',
  requestId: 'svc.request_id',
  keyName: 'svc.key_name',
  outcome: 'svc.outcome',
  attempt: 'svc.attempt',
  reask: 'svc.reask',
  flags: 'svc.parse.flags',
  repaired: 'svc.parse.repaired',
  lossy: 'svc.parse.lossy',
  dropped: 'svc.parse.dropped',
  defaulted: 'svc.parse.defaulted',
  thread: 'svc.parse.thread',
  arguments: 'svc.arguments',
} as const;

/** The event of a stream whose first text arrived. */
export const FIRST_TOKEN = 'svc.first_token';
/** The event of a call that passed over a client, because it cools down. */
export const PASSED_OVER = 'svc.client_passed_over';
/** The event of a reply that waited for a thread. */
export const THREAD_TAKEN = 'svc.thread_taken';

/** The names of the spans inside svc. */
export const SPANS = {
  queue: 'svc.queue',
  render: 'svc.render',
  parse: 'svc.parse',
  thread: 'svc.parse.thread',
} as const;
