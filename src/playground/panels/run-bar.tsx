import type { VNode } from 'preact';
import type { PlaygroundDocument, PlaygroundClient, PlaygroundFunction } from '../../schema/playground-document.ts';
import {
  OWN_CLIENT,
  EMPTY_CUSTOM_CLIENT,
  missingVariables,
  type ClientChoice,
  type CustomClient,
  type Keys,
  isRunning,
} from '../data/run.ts';
import type { Draft, DraftActions } from '../state/use-draft.ts';
import type { Runs } from '../state/use-runs.ts';
import { Icon, Segmented, Select } from '../widgets/controls.tsx';

interface RunBarProps {
  readonly draft: Draft;
  readonly actions: DraftActions;
  readonly document: PlaygroundDocument;
  readonly runs: Runs;
  readonly onRun: () => void;
}

/** Selects the client, or two to compare, and how to run; starts and stops runs. */
export function RunBar({ draft, actions, document, runs, onRun }: RunBarProps): VNode {
  const { client, fn, hasFault, keys, mode, other } = draft;
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
      {hasFault ? <p class="error">Correct the arguments to run the function.</p> : null}
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
          <button
            type="button"
            class="button primary run-button"
            disabled={hasFault}
            onClick={onRun}
            title="Ctrl+Enter or ⌘ Enter"
          >
            <Icon name="play" /> Run
          </button>
        )}
      </div>
    </div>
  );
}

interface ClientPickerProps {
  readonly label: string;
  readonly choice: ClientChoice;
  readonly onChange: (choice: ClientChoice) => void;
  readonly fn: PlaygroundFunction;
  readonly document: PlaygroundDocument;
  readonly keys: Keys;
  readonly onKey: (variable: string, value: string) => void;
}

/** Selects a client: the function's own, another one of the files, or one that the user defines here. */
function ClientPicker(props: ClientPickerProps): VNode {
  const { choice, document, fn, label, onChange } = props;
  const { clientRegistry, clients } = document;
  return (
    <div class="client-picker">
      <label class="picker-row">
        <span class="picker-label">{label}</span>
        <select
          class="input select-input grow"
          aria-label={label}
          value={choice.kind === 'named' ? `named:${choice.name}` : choice.kind}
          onChange={(event) => onChange(choiceOf(event.currentTarget.value))}
          disabled={clientRegistry === 'off'}
        >
          <option value="own">{fn.client} (of the function)</option>
          <optgroup label="In the definitions">
            {clients.map((client) => (
              <option key={client.name} value={`named:${client.name}`}>
                {clientText(client)}
              </option>
            ))}
          </optgroup>
          {clientRegistry === 'open' ? <option value="custom">Another client…</option> : null}
        </select>
      </label>
      {choice.kind === 'custom' ? <CustomClientForm {...props} client={choice} /> : <MissingKeys {...props} />}
    </div>
  );
}

function choiceOf(value: string): ClientChoice {
  if (value === 'own') return OWN_CLIENT;
  return value === 'custom' ? EMPTY_CUSTOM_CLIENT : { kind: 'named', name: value.slice('named:'.length) };
}

function clientText({ name, provider, model, members }: PlaygroundClient): string {
  if (members !== undefined) return `${name} (${provider}: ${members.join(', ')})`;
  return model === undefined ? `${name} (${provider})` : `${name} (${provider}, ${model})`;
}

const TAB_ONLY = 'kept in this tab only';

function MissingKeys({ choice, document, fn, keys, onKey }: ClientPickerProps): VNode | null {
  const variables = missingVariables(choice, fn, document);
  if (variables.length === 0) return null;
  return (
    <>
      {variables.map((variable) => (
        <TextRow
          key={variable}
          isKey
          label={variable}
          placeholder={TAB_ONLY}
          value={keys[variable] ?? ''}
          onInput={(key) => onKey(variable, key)}
        />
      ))}
    </>
  );
}

function CustomClientForm({
  client,
  document,
  label,
  onChange,
}: ClientPickerProps & { readonly client: CustomClient }): VNode {
  const change = (part: Partial<CustomClient>): void => onChange({ ...client, ...part });
  return (
    <fieldset class="custom-client">
      <legend class="visually-hidden">{label}: another client</legend>
      <label class="picker-row">
        <span class="picker-label">Provider</span>
        <Select
          class="grow"
          aria-label="Provider"
          value={client.provider}
          options={document.providers.map((provider) => [provider, provider])}
          onChange={(provider) => change({ provider })}
        />
      </label>
      <TextRow label="Model" value={client.model} placeholder="gpt-4o-mini" onInput={(model) => change({ model })} />
      <TextRow
        isKey
        label="API key"
        value={client.apiKey}
        placeholder={TAB_ONLY}
        onInput={(apiKey) => change({ apiKey })}
      />
      <TextRow
        label="Base URL"
        value={client.baseUrl}
        placeholder="the provider's own"
        onInput={(baseUrl) => change({ baseUrl })}
      />
    </fieldset>
  );
}

interface TextRowProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  /** The value is a key, which browsers must not offer to store. */
  readonly isKey?: boolean;
  readonly onInput: (value: string) => void;
}

function TextRow({ label, value, placeholder, isKey = false, onInput }: TextRowProps): VNode {
  return (
    <label class="picker-row">
      <span class="picker-label">{label}</span>
      <input
        class="input grow"
        {...(isKey && { type: 'password', 'data-1p-ignore': true })}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
