import type { VNode } from 'preact';
import type { PlaygroundClient, PlaygroundDocument, PlaygroundFunction } from '../../schema/playground-document.ts';
import {
  EMPTY_CUSTOM_CLIENT,
  missingVariables,
  OWN_CLIENT,
  type ClientChoice,
  type CustomClient,
  type Keys,
} from '../data/client-choice.ts';

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
export function ClientPicker(props: ClientPickerProps): VNode {
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

/** Asks for keys that the server does not have. */
function MissingKeys({ choice, document, fn, keys, onKey }: ClientPickerProps): VNode | null {
  const variables = missingVariables(choice, fn, document);
  if (variables.length === 0) return null;
  return (
    <>
      {variables.map((variable) => (
        <KeyInput
          key={variable}
          label={variable}
          value={keys[variable] ?? ''}
          onChange={(key) => onKey(variable, key)}
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
        <select
          class="input select-input grow"
          aria-label="Provider"
          value={client.provider}
          onChange={(event) => change({ provider: event.currentTarget.value })}
        >
          {document.providers.map((provider) => (
            <option key={provider} value={provider}>
              {provider}
            </option>
          ))}
        </select>
      </label>
      <TextRow label="Model" value={client.model} placeholder="gpt-4o-mini" onInput={(model) => change({ model })} />
      <KeyInput label="API key" value={client.apiKey} onChange={(apiKey) => change({ apiKey })} />
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
  readonly onInput: (value: string) => void;
}

function TextRow({ label, value, placeholder, onInput }: TextRowProps): VNode {
  return (
    <label class="picker-row">
      <span class="picker-label">{label}</span>
      <input
        class="input grow"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

interface KeyInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Browsers must not offer to store it. */
function KeyInput({ label, value, onChange }: KeyInputProps): VNode {
  return (
    <label class="picker-row">
      <span class="picker-label">{label}</span>
      <input
        class="input grow"
        type="password"
        autocomplete="off"
        data-1p-ignore
        placeholder={TAB_ONLY}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
