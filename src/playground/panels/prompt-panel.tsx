import { counted } from '../../base/amounts.ts';
import type { VNode } from 'preact';
import { estimateMessageTokens } from '../data/estimate-tokens.ts';
import type { Prompt } from '../state/use-prompt.ts';
import { Messages, textsOf } from '../widgets/messages.tsx';
import { ProblemView } from '../widgets/problem-view.tsx';

/** The estimated tokens of a prompt; undefined before the first one. */
export function estimatedTokens({ messages }: Prompt): number | undefined {
  return messages?.reduce((sum, message) => sum + estimateMessageTokens(textsOf(message)), 0);
}

/** The messages that the model would receive for the arguments. */
export function PromptPanel({ prompt }: { readonly prompt: Prompt }): VNode {
  const { messages, problem, stale } = prompt;
  const media = messages?.flatMap(({ parts }) => parts).filter(({ kind }) => kind === 'media').length ?? 0;
  return (
    <section class={stale && problem !== undefined ? 'prompt stale' : 'prompt'} aria-label="Prompt">
      {problem === undefined ? null : <ProblemView problem={problem} />}
      {messages === undefined ? null : (
        <>
          <p class="quiet prompt-summary">
            {counted(messages.length, 'message')}, about {estimatedTokens(prompt)} tokens
            {media === 0 ? '' : ` and ${counted(media, 'media part')}`}
            {problem === undefined ? '' : '. This is the prompt of the last valid arguments.'}
          </p>
          <Messages messages={messages} />
        </>
      )}
    </section>
  );
}
