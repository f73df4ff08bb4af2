import type { Result } from '../../base/result.ts';
import type { PromptFailure } from '../../schema/errors.ts';
import type { Message, PromptClient } from '../../schema/message.ts';

/** Renders the prompts of one program. Made once per worker: templates become closures on first use. */
export interface PromptRenderer {
  /**
   * The messages of one call. `args` are checked values by parameter name; an absent optional is simply missing.
   * Bounded in steps, output and depth; never throws.
   */
  render(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    client: PromptClient,
  ): Result<readonly Message[], PromptFailure>;
}
