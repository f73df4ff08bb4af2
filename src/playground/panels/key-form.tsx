import { useState } from 'preact/hooks';
import type { VNode } from 'preact';

interface KeyFormProps {
  /** The server does not accept the last key. */
  readonly refused: boolean;
  readonly onKey: (key: string) => void;
}

/** Asks for the key of the server. */
export function KeyForm({ refused, onKey }: KeyFormProps): VNode {
  const [key, setKey] = useState('');
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        onKey(key);
      }}
    >
      <h1>This server requires a key</h1>
      {refused ? (
        <p class="error" role="alert">
          The server does not accept this key.
        </p>
      ) : null}
      <label class="stack-tight">
        API key
        <input
          class="input"
          type="password"
          autocomplete="current-password"
          required
          spellcheck={false}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <p class="quiet small">The page keeps it in this tab only, and sends it with every request.</p>
      <button type="submit" class="button primary">
        Continue
      </button>
    </form>
  );
}
