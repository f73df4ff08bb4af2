import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Chevrotain from 'chevrotain';

/**
 * Loads chevrotain from its bundle. The entry of the package loads about 700 small modules, which costs 0.3 to 0.4 s of
 * CPU at every start of every command; the bundle loads in 0.01 s. The package does not export the bundle, so its path
 * derives from the path of the entry (`lib/src/api.js`). The version is pinned, and a test checks that the file exists.
 */
const entry = pathToFileURL(createRequire(import.meta.url).resolve('chevrotain'));
const bundle = (await import(new URL('../chevrotain.min.mjs', entry).href)) as typeof Chevrotain;

export const { createToken, EmbeddedActionsParser, isRecognitionException, Lexer, tokenLabel, tokenMatcher } = bundle;
