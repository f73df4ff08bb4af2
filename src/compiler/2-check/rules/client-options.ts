import { didYouMean } from '../../../base/suggestion.ts';
import type { Provider } from '../../../schema/client.ts';
import type { EntryNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf, providerNamed } from '../build/build-client.ts';
import { textOf, valueOf } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import {
  COUNT,
  either,
  NUMBER,
  oneOf,
  SETTINGS,
  SWITCH,
  TEXT,
  TEXT_MAP,
  TEXTS,
  type ValueShape,
} from '../value-shapes.ts';

type Shapes = Readonly<Record<string, ValueShape>>;

const MEDIA_MODES = oneOf(['send_url', 'send_base64', 'send_url_add_mime_type', 'send_base64_unless_google_url']);

const COMMON: Shapes = {
  api_key: TEXT,
  base_url: TEXT,
  headers: TEXT_MAP,
  query_params: TEXT_MAP,
  default_role: TEXT,
  allowed_roles: TEXTS,
  remap_roles: TEXT_MAP,
  allowed_role_metadata: either(oneOf(['all', 'none']), TEXTS),
  supports_streaming: SWITCH,
  finish_reason_allow_list: TEXTS,
  finish_reason_deny_list: TEXTS,
  client_response_type: oneOf(['openai', 'openai-responses', 'openai-transcription', 'anthropic', 'google', 'vertex']),
  media_url_handler: SETTINGS,
  http: SETTINGS,
};
const STRATEGY: Shapes = {
  strategy: { expected: 'a list of clients', fits: (value) => value.kind === 'list' },
  http: SETTINGS,
};
const OFFLINE: Shapes = {
  reply: TEXT,
  latency_ms: NUMBER,
  chunk_size: COUNT,
  chunk_delay_ms: NUMBER,
  fail_status: COUNT,
  supports_streaming: SWITCH,
};

const HTTP_OPTIONS: Shapes = {
  connect_timeout_ms: COUNT,
  request_timeout_ms: COUNT,
  time_to_first_token_timeout_ms: COUNT,
  idle_timeout_ms: COUNT,
  enable_connection_pooling: SWITCH,
};
const STRATEGY_HTTP_OPTIONS: Shapes = { total_timeout_ms: COUNT };
const MEDIA_OPTIONS: Shapes = { image: MEDIA_MODES, audio: MEDIA_MODES, pdf: MEDIA_MODES, video: MEDIA_MODES };

/**
 * Options that svc itself reads have to be what they are read as; all others go to the provider as they are. Providers
 * that talk to nobody (strategies, offline) have no others, so there an unknown one is a mistake.
 */
export const clientOptions: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    const provider = providerNamed(textOf(valueOf(node.entries, 'provider')) ?? '');
    const options = valueOf(node.entries, 'options');
    if (provider === undefined || options === undefined || options.kind === 'broken') continue;
    if (options.kind === 'map') checkOptions(context, provider, optionsOf(node));
    else context.report('check/option-value', options.span, { name: 'options', expected: SETTINGS.expected });
  }
};

function checkOptions(context: CheckContext, provider: Provider, options: readonly EntryNode[]): void {
  const shapes = shapesOf(provider);
  for (const entry of options) checkShape(context, entry, shapes);
  const isStrategy = provider === 'fallback' || provider === 'round-robin';
  if (isStrategy || provider === 'offline') reportUnused(context, provider, options);
  const http = isStrategy ? STRATEGY_HTTP_OPTIONS : HTTP_OPTIONS;
  checkSettings(context, `The \`http\` block of provider "${provider}"`, valueOf(options, 'http'), http);
  if (!isStrategy) checkSettings(context, '`media_url_handler`', valueOf(options, 'media_url_handler'), MEDIA_OPTIONS);
}

function shapesOf(provider: Provider): Shapes {
  if (provider === 'fallback') return STRATEGY;
  if (provider === 'round-robin') return { ...STRATEGY, start: COUNT };
  return provider === 'offline' ? OFFLINE : COMMON;
}

function checkShape({ report }: CheckContext, { key, value }: EntryNode, shapes: Shapes): void {
  const shape = Object.hasOwn(shapes, key.text) ? shapes[key.text] : undefined;
  if (shape === undefined || value === undefined || value.kind === 'broken' || value.kind === 'null') return;
  if (!shape.fits(value)) report('check/option-value', value.span, { name: key.text, expected: shape.expected });
}

function reportUnused({ report }: CheckContext, provider: Provider, options: readonly EntryNode[]): void {
  const known = Object.keys(shapesOf(provider));
  for (const { key } of options) {
    if (known.includes(key.text)) continue;
    const suggestion = didYouMean(key.text, known);
    report('check/unused-option', key.span, { name: key.text, owner: `provider "${provider}"`, suggestion });
  }
}

function checkSettings(context: CheckContext, owner: string, value: EntryNode['value'], shapes: Shapes): void {
  if (value?.kind !== 'map') return;
  for (const entry of value.entries) {
    checkShape(context, entry, shapes);
    if (Object.hasOwn(shapes, entry.key.text)) continue;
    const known = Object.keys(shapes);
    const suggestion = didYouMean(entry.key.text, known) || `It has: ${known.join(', ')}.`;
    context.report('check/unknown-option', entry.key.span, { name: entry.key.text, owner, suggestion });
  }
}
