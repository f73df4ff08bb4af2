import { CACHE_OPTION, COUNT, MILLISECONDS } from './common-options.ts';
import type { OptionTable } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';

/** A canned answer, and the calls that get it. */
const CANNED = {
  function: { shape: { kind: 'text' } },
  contains: { shape: { kind: 'text' } },
  reply: { shape: { kind: 'json' }, required: true, text: 'the text of the answer, or a value that becomes its JSON' },
} as const satisfies OptionTable;

const OPTIONS = {
  reply: {
    shape: { kind: 'json' },
    text: 'the text of every reply, or a value that becomes its JSON; without it, svc makes up a value of the return type from the arguments, and reports that',
  },
  replies: {
    shape: {
      kind: 'list',
      item: {
        kind: 'settings',
        settings: CANNED,
        expected: 'an object with "reply", and "function" or "contains" or both',
      },
      expected: 'a list of canned answers: objects with "reply", and "function" or "contains" or both',
    },
    text: 'canned answers: the client returns the `reply` of the first one whose `function` is called and whose `contains` occurs in the arguments as JSON; if none matches, it returns `reply`, or makes up a value and reports that',
  },
  make_up: {
    shape: { kind: 'boolean' },
    default: true,
    text: '`false`: a call without a canned answer fails, instead of returning a value made from the arguments',
  },
  latency_ms: { shape: MILLISECONDS, default: 0, text: 'the time before the reply begins' },
  chunk_size: { shape: COUNT, default: 16, text: 'the number of characters in each delta of a stream' },
  chunk_delay_ms: { shape: MILLISECONDS, default: 0, text: 'the pause after each delta' },
  fail_status: {
    shape: { kind: 'count', min: 400, max: 599, expected: 'the status of an error, 400 to 599' },
    text: 'every call fails with this status, 400 to 599',
  },
  cache: CACHE_OPTION,
  model: { shape: { kind: 'json' }, text: 'accepted and ignored, so that `offline/x` is a client' },
} as const satisfies OptionTable;

/** The built-in provider that needs no network and no key. */
export const OFFLINE = {
  options: OPTIONS,
  rules: [],
  otherOptions: 'refused',
  docs: { address: 'none: no network', key: 'none needed', model: '' },
} as const satisfies ProviderDescription<typeof OPTIONS>;
