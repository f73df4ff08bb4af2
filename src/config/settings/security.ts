import { CLIENT_REGISTRY_POLICIES } from '../key-file.ts';
import { ok } from '../../base/result.ts';
import { NO_DEFAULT, setting } from '../setting.ts';
import { keyword, nonEmptyString, origins, yesOrNo } from '../setting-values.ts';

/** Who can call svc, and what a request can choose. */
export const SECURITY_SETTINGS = {
  /** Absent: svc serves without authentication. */
  apiKey: setting({
    variable: 'SVC_PASSWORD',
    bamlVariable: 'BAML_PASSWORD',
    group: 'Security',
    help: 'API key that callers must send',
    parse: (text) => ok(text),
    default: NO_DEFAULT,
  }),
  keys: setting({
    flag: '--keys <file>',
    variable: 'SVC_KEYS',
    group: 'Security',
    help: 'The file with the keys of callers and their limits, in YAML or JSON; svc reloads it when it changes',
    parse: nonEmptyString('the path of a file'),
    default: NO_DEFAULT,
  }),
  clientRegistry: setting({
    flag: '--client-registry <policy>',
    variable: 'SVC_CLIENT_REGISTRY',
    group: 'Security',
    help: 'Clients that a request can select: open (also those it defines), known (those in the definition files) or off (none)',
    parse: keyword(...CLIENT_REGISTRY_POLICIES),
    default: 'open',
  }),
  dynamicTypes: setting({
    flag: '--dynamic-types <policy>',
    variable: 'SVC_DYNAMIC_TYPES',
    group: 'Security',
    help: 'Whether requests can extend @@dynamic types: on or off',
    parse: keyword('on', 'off'),
    default: 'on',
  }),
  /** `*` for any; empty for none, and then svc sends no CORS headers. */
  corsOrigins: setting({
    flag: '--cors-origin <origins>',
    variable: 'SVC_CORS_ORIGIN',
    group: 'Security',
    help: 'Origins whose pages can call svc from a browser, separated by commas; * allows any',
    parse: origins,
    default: '',
  }),
  allowPrivateUrls: setting({
    flag: '--allow-private-urls',
    variable: 'SVC_ALLOW_PRIVATE_URLS',
    group: 'Security',
    help: 'Let requests name loopback and private addresses',
    parse: yesOrNo,
    default: 'false',
  }),
  trustLoopback: setting({
    flag: '--trust-loopback',
    variable: 'SVC_TRUST_LOOPBACK',
    group: 'Security',
    help: 'Let programs on this machine name such addresses; do not set it behind a proxy on this machine',
    parse: yesOrNo,
    default: 'false',
  }),
  exposePrompts: setting({
    flag: '--expose-prompts',
    variable: 'SVC_EXPOSE_PROMPTS',
    group: 'Security',
    help: 'Show the prompt in validation failures, and let requests ask for prompts, replies and reasoning',
    parse: yesOrNo,
    default: 'false',
  }),
};
