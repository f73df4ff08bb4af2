import { existsSync } from 'node:fs';
import { setting } from '../setting.ts';
import { keywords, nonEmptyString, yesOrNo } from '../setting-values.ts';

/** If no source names a directory, svc reads the first of these that exists. */
export const DEFAULT_DIRECTORIES = ['./svc_src', './baml_src'] as const;

/** The definition files and the environment that svc reads. */
export const DEFINITIONS_SETTINGS = {
  /** Absent if no source names a directory and none of the default directories exists. */
  from: setting({
    flag: '--from <dir>',
    variable: 'SVC_FROM',
    group: 'Definitions',
    help: 'The definition files: a directory, or one file',
    parse: nonEmptyString('the path of a directory or file'),
    default: {
      text: DEFAULT_DIRECTORIES.join(', otherwise '),
      compute: () => DEFAULT_DIRECTORIES.find((directory) => existsSync(directory)),
    },
  }),
  features: setting({
    flag: '--features <name...>',
    variable: 'SVC_FEATURES',
    group: 'Definitions',
    help: 'beta turns on experimental features; display_all_warnings prints every warning',
    parse: keywords('beta', 'display_all_warnings'),
    default: '',
  }),
  versionCheck: setting({
    flag: '--no-version-check',
    variable: 'SVC_VERSION_CHECK',
    group: 'Definitions',
    help: 'Ignore the versions that generator blocks require',
    parse: yesOrNo,
    default: 'true',
  }),
  dotenv: setting({
    flag: '--dotenv',
    opposite: ['--no-dotenv', 'Do not read a .env file'],
    variable: 'SVC_DOTENV',
    group: 'Environment',
    help: 'Read variables from a .env file too',
    parse: yesOrNo,
    default: { text: 'on', compute: () => true },
  }),
  dotenvPath: setting({
    flag: '--dotenv-path <file>',
    variable: 'SVC_DOTENV_PATH',
    group: 'Environment',
    help: 'The .env file to read',
    parse: nonEmptyString('the path of a file'),
    default: { text: '.env if it exists', compute: () => undefined },
  }),
};
