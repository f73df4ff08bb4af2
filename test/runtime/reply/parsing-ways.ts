import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { parseReply, parseText } from '../../../src/runtime/call/parse-reply.ts';
import type { ReplyOutcome } from '../../../src/runtime/call/runtime.ts';
import { writeProgram } from '../../../src/runtime/call/load-program.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { ParsePool } from '../../../src/server/parse-pool.ts';
import { sourceThread } from '../../support/source-thread.ts';
import { programOf } from './parser-of.ts';

const THREAD = sourceThread('parse-thread');

/** The two ways in which a server parses whole replies, for one suite over both. */
export interface ParsingWays {
  readonly inline: (type: string, text: string) => Promise<ReplyOutcome>;
  readonly pooled: (type: string, text: string) => Promise<ReplyOutcome>;
  close(): Promise<void>;
}

/** Compiles a program with a function for each return type, and returns both ways to parse its replies. */
export function parsingWays(types: Iterable<string>, definitions: string): ParsingWays {
  const names = new Map([...new Set(types)].map((type, index) => [type, `Sample${index}`]));
  const program = programOf(
    [...names].map(([type, name]) => ({ name, returns: type })),
    definitions,
  );
  const index = indexDefinitions(program);
  const folder = mkdtempSync(join(tmpdir(), 'svc-parsing-'));
  const pool = new ParsePool({
    thread: THREAD,
    programPath: writeProgram(program, folder),
    onThreadError: (error) => {
      throw error;
    },
    onUnusable: (error) => {
      throw error;
    },
  });
  const way = (options: Parameters<typeof parseReply>[1]) => async (type: string, text: string) => {
    const functionName = names.get(type) ?? '';
    const fn = index.functions.get(functionName);
    if (fn === undefined) throw new Error(`no function for ${type}`);
    const reply = {
      functionName,
      text,
      wrapped: false,
      cancellation: new Cancellation(),
      deadlineAt: performance.now() + 60_000,
    };
    const parser = createReplyParser(fn.returns, index, compileCondition);
    return parseReply(reply, options, parseText(parser, reply));
  };
  const close = async (): Promise<void> => {
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const pooled = way({ parseElsewhere: pool.parse.bind(pool), parseElsewhereAbove: -1 });
  return { inline: way({ parseElsewhereAbove: Infinity }), pooled, close };
}
