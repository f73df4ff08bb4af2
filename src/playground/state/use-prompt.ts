import { useEffect, useState } from 'preact/hooks';
import type { Message } from '../../schema/message.ts';
import { requestBody, requestOptions } from '../data/client-choice.ts';
import type { ErrorBody, Rendered } from '../server/wire.ts';
import type { Draft } from './use-draft.ts';
import type { Server } from './use-server.ts';

/** The prompt of the draft. */
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
      const answer = await connection.post<Rendered>(`render/${name}`, JSON.parse(body), abort.signal);
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
