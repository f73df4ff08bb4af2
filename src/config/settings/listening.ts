import { NO_DEFAULT, setting } from '../setting.ts';
import { duration, keyword, nonEmptyString, pathPrefix, wholeNumber, yesOrNo } from '../setting-values.ts';

/** Where svc listens, and its pages. */
export const LISTENING_SETTINGS = {
  port: setting({
    flag: '--port <number>',
    variable: 'SVC_PORT',
    group: 'Listening',
    help: 'Port of the server; 0 selects a free one',
    parse: wholeNumber(0, 65_535),
    default: '2024',
  }),
  host: setting({
    flag: '--host <address>',
    variable: 'SVC_HOST',
    group: 'Listening',
    help: 'Address of the server; 0.0.0.0 accepts callers from other machines',
    parse: nonEmptyString('an address or a host name such as 0.0.0.0, :: or localhost'),
    default: '0.0.0.0',
  }),
  /** Begins with a slash and ends without one, or is empty. */
  basePath: setting({
    flag: '--base-path <path>',
    variable: 'SVC_BASE_PATH',
    group: 'Listening',
    help: 'Prefix of the path of every endpoint, such as /llm',
    parse: pathPrefix,
    default: '',
  }),
  metricsPort: setting({
    flag: '--metrics-port <number>',
    variable: 'SVC_METRICS_PORT',
    group: 'Listening',
    help: 'Serve /metrics on this port too',
    parse: wholeNumber(1, 65_535),
    default: NO_DEFAULT,
  }),
  transport: setting({
    flag: '--transport <name>',
    variable: 'SVC_TRANSPORT',
    group: 'Listening',
    help: 'HTTP implementation: uws, node, or auto (uws if its binary loads, otherwise node)',
    parse: keyword('auto', 'uws', 'node'),
    default: 'auto',
  }),
  keepAliveTimeoutMs: setting({
    flag: '--keep-alive-timeout <duration>',
    variable: 'SVC_KEEP_ALIVE_TIMEOUT',
    group: 'Listening',
    help: 'How long the node transport keeps an idle connection open',
    parse: duration(2_000),
    default: '10s',
  }),
  title: setting({
    flag: '--title <text>',
    variable: 'SVC_TITLE',
    group: 'Pages',
    help: 'Title of /docs and of the OpenAPI document',
    parse: nonEmptyString('a title'),
    default: 'svc',
  }),
  /** Absent: the version of svc. */
  apiVersion: setting({
    flag: '--api-version <text>',
    variable: 'SVC_API_VERSION',
    group: 'Pages',
    help: 'Version of your functions in the OpenAPI document',
    parse: nonEmptyString('a version such as 1.4.0'),
    default: { text: 'the version of svc', compute: () => undefined },
  }),
  playground: setting({
    flag: '--playground',
    variable: 'SVC_PLAYGROUND',
    group: 'Pages',
    help: 'Serve /playground, where callers with the key can see prompts and replies',
    parse: yesOrNo,
    default: 'false',
  }),
};
