import type { Logger } from '../../logging/logger.ts';
import type { ReplyOutcome, WholeReply } from './whole-reply.ts';

/** What a runtime needs to know besides the program. */
export interface RuntimeOptions {
  readonly logger: Logger;
  /** What `env.X` and the providers' default variables read, unless a request brings its own. */
  readonly env: Readonly<Record<string, string>>;
  /** `open`: requests may bring clients. `known`: they may only name those of the files. `off`: neither. */
  readonly clientRegistry: 'open' | 'known' | 'off';
  /** URLs of requests may lead to private and loopback addresses. */
  readonly allowPrivateUrls: boolean;
  /** Prompts may be told to callers, in errors. */
  readonly exposePrompts: boolean;
  /** Parses a large reply where it does not hold up other calls. Rejects only for a bug. */
  readonly parseElsewhere?: (reply: WholeReply) => Promise<ReplyOutcome>;
  /** Replies longer than this (in UTF-16 units) go to `parseElsewhere`. */
  readonly parseElsewhereAbove: number;
  /**
   * Turns of round-robin clients over all processes: 0, 1, 2, … for each client's name. Without it they are counted
   * in this process.
   */
  readonly roundRobinTurn?: (client: string) => number | Promise<number>;
}
