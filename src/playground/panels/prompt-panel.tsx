import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { counted } from '../../base/amounts.ts';
import { estimateMessageTokens, requestBody, requestOptions } from '../data/run.ts';
import { Messages, textsOf } from '../widgets/messages.tsx';
import { ProblemView } from '../widgets/controls.tsx';
import type { Message } from '../../schema/message.ts';
import type { ErrorBody } from '../server/wire.ts';
import type { Draft } from '../state/use-draft.ts';
import type { Server } from '../state/use-server.ts';

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

export interface Prompt {
  /** The last messages that could be rendered. */
  readonly messages?: readonly Message[];
  /** Why the newest arguments have no prompt. */
  readonly problem?: ErrorBody;
  /** The messages are those of earlier arguments. */
  readonly stale: boolean;
}

/** Waits for the end of a burst of keystrokes. */
const PAUSE_MS = 120;

/** Renders the prompt on the server, again after each change of the draft or the program, and when the server is back. */
export function usePrompt({ connection, document, problem }: Server, draft: Draft | undefined): Prompt {
  const [prompt, setPrompt] = useState<Prompt & { readonly of?: string }>({ stale: true });
  const name = draft?.fn.name ?? '';
  const options = draft === undefined ? undefined : requestOptions(draft.client, draft.keys);
  const body = JSON.stringify(requestBody(draft?.args ?? {}, options));
  useEffect(() => {
    if (name === '') return undefined;
    setPrompt((before) => (before.of === name ? { ...before, stale: true } : { of: name, stale: true }));
    const abort = new AbortController();
    const render = async (): Promise<void> => {
      const answer = await connection.post<{ readonly messages: readonly Message[] }>(
        `render/${name}`,
        JSON.parse(body),
        abort.signal,
      );
      if (abort.signal.aborted) return;
      if (answer.ok) setPrompt({ of: name, messages: answer.value.messages, stale: false });
      else setPrompt((before) => ({ ...before, problem: answer.problem, stale: true }));
    };
    const timer = setTimeout(() => void render(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [connection, name, body, document?.program, problem === undefined]);
  return prompt;
}
