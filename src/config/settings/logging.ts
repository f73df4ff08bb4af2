import { LOG_LEVELS, setting, zeroOr } from '../setting.ts';
import { duration, keyword, share } from '../setting-values.ts';

/** What svc logs. */
export const LOGGING_SETTINGS = {
  logLevel: setting({
    flag: '--log-level <level>',
    variable: 'SVC_LOG_LEVEL',
    bamlVariable: 'BAML_LOG',
    group: 'Logging',
    help: 'Lowest level to log: off, error, warn, info, debug or trace',
    parse: (text) => keyword(...LOG_LEVELS)(text.toLowerCase()),
    default: 'info',
  }),
  logFormat: setting({
    flag: '--log-format <format>',
    variable: 'SVC_LOG_FORMAT',
    group: 'Logging',
    help: 'auto (short lines on a terminal, otherwise JSON), json, or pretty (for trying functions by hand)',
    parse: keyword('auto', 'json', 'pretty'),
    default: 'auto',
  }),
  slowMs: setting({
    flag: '--slow <duration>',
    variable: 'SVC_SLOW',
    group: 'Logging',
    help: 'Duration from which a call is logged at warn, with where its time went; 0 means never',
    parse: zeroOr(duration(1)),
    default: '0',
  }),
  /** From 0 to 1. */
  logSample: setting({
    flag: '--log-sample <share>',
    variable: 'SVC_LOG_SAMPLE',
    group: 'Logging',
    help: 'Share of successful calls to log, such as 0.01; failed and slow calls are always logged',
    parse: share,
    default: '100%',
  }),
  logContent: setting({
    flag: '--log-content <amount>',
    variable: 'SVC_LOG_CONTENT',
    group: 'Logging',
    help: 'How much of bodies, prompts and replies to log: none, short (2 KB) or full',
    parse: keyword('none', 'short', 'full'),
    default: {
      text: 'full at levels debug and trace, otherwise short',
      compute: ({ logLevel }) => (logLevel === 'debug' || logLevel === 'trace' ? 'full' : 'short'),
    },
  }),
};
