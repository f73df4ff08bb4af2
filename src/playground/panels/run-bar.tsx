import type { VNode } from 'preact';
import type { PlaygroundDocument } from '../../schema/playground-document.ts';
import { OWN_CLIENT } from '../data/client-choice.ts';
import { isRunning } from '../data/run.ts';
import type { Draft, DraftActions } from '../state/use-draft.ts';
import type { Runs } from '../state/use-runs.ts';
import { Icon } from '../widgets/icon.tsx';
import { Segmented } from '../widgets/segmented.tsx';
import { ClientPicker } from './client-picker.tsx';

interface RunBarProps {
  readonly draft: Draft;
  readonly actions: DraftActions;
  readonly document: PlaygroundDocument;
  readonly runs: Runs;
  readonly onRun: () => void;
}

/** Selects the client, or two to compare, and how to run; starts and stops runs. */
export function RunBar({ draft, actions, document, runs, onRun }: RunBarProps): VNode {
  const { client, fn, keys, mode, other } = draft;
  const running = runs.all.some(isRunning);
  const shared = { fn, document, keys, onKey: actions.setKey };
  return (
    <div class="run-bar">
      <ClientPicker
        {...shared}
        label={other === undefined ? 'Client' : 'Client A'}
        choice={client}
        onChange={actions.setClient}
      />
      {other === undefined ? null : (
        <ClientPicker {...shared} label="Client B" choice={other} onChange={actions.setOther} />
      )}
      <div class="run-row">
        <Segmented
          label="How to run"
          options={[
            ['stream', 'Stream'],
            ['call', 'Call'],
          ]}
          value={mode}
          onChange={actions.setMode}
        />
        {document.clientRegistry === 'off' ? null : (
          <label class="check">
            <input
              type="checkbox"
              checked={other !== undefined}
              onChange={(event) => actions.setOther(event.currentTarget.checked ? OWN_CLIENT : undefined)}
            />
            Compare
          </label>
        )}
        <span class="grow" />
        {running ? (
          <button type="button" class="button stop-button" onClick={runs.stop} title="Escape">
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="button" class="button primary run-button" onClick={onRun} title="Ctrl+Enter or ⌘ Enter">
            <Icon name="play" /> Run
          </button>
        )}
      </div>
    </div>
  );
}
