import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Chevrotain from 'chevrotain';

/**
 * chevrotain as one file. The package's entry loads some 700 small modules, 0.3 to 0.4 s of CPU at every start of every
 * command; the bundle that it ships beside them loads in 0.01 s. Its `exports` do not name the bundle, so it is found from the entry
 * (`lib/src/api.js`). The version is pinned, and a test fails when the file is gone.
 */
const entry = pathToFileURL(createRequire(import.meta.url).resolve('chevrotain'));
const bundle = (await import(new URL('../chevrotain.min.mjs', entry).href)) as typeof Chevrotain;

export const { createToken, EmbeddedActionsParser, isRecognitionException, Lexer, tokenLabel, tokenMatcher } = bundle;
