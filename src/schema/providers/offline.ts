import { COUNT, MILLISECONDS } from './common-options.ts';
import type { OptionTable } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';

const OPTIONS = {
  reply: {
    shape: { kind: 'json' },
    text: 'the text of every reply, or a value that becomes its JSON; without it, a reply is a value of the return type made from the arguments',
  },
  latency_ms: { shape: MILLISECONDS, default: 0, text: 'the time before the reply begins' },
  chunk_size: { shape: COUNT, default: 16, text: 'the number of characters in each delta of a stream' },
  chunk_delay_ms: { shape: MILLISECONDS, default: 0, text: 'the pause after each delta' },
  fail_status: {
    shape: { kind: 'count', min: 400, max: 599, expected: 'the status of an error, 400 to 599' },
    text: 'every call fails with this status, 400 to 599',
  },
  model: { shape: { kind: 'json' }, text: 'accepted and ignored, so that `offline/x` is a client' },
} as const satisfies OptionTable;

/** The built-in provider that needs no network and no key. */
export const OFFLINE = {
  options: OPTIONS,
  rules: [],
  otherOptions: 'refused',
  docs: { address: 'none: no network', key: 'none needed', model: '' },
} as const satisfies ProviderDescription<typeof OPTIONS>;
