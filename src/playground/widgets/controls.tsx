import type { VNode, ComponentChildren } from 'preact';
import { useEffect, useState, useRef } from 'preact/hooks';
import type { ErrorBody } from '../server/wire.ts';

/** Paths in a square of 16 units, drawn with a line. */
const PATHS = {
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 13V3M4 7l4-4 4 4',
  play: 'M5 3.5v9l7-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  check: 'M3 8.5l3.5 3.5L13 5',
  link: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  warn: 'M8 2.5l6 10.5H2zM8 6.5v3M8 11.2v.3',
} as const;

type IconName = keyof typeof PATHS;

/** A small picture beside a text, or in a button with a label. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface IconButtonProps {
  /** For screen readers. */
  readonly label: string;
  readonly icon: IconName;
  readonly class?: string;
  readonly onClick: () => void;
}

export function IconButton({ label, icon, class: extra = '', onClick }: IconButtonProps): VNode {
  return (
    <button type="button" class={`icon-button ${extra}`} aria-label={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

interface SelectProps {
  readonly value: string;
  readonly options: ReadonlyArray<readonly [value: string, text: string]>;
  readonly onChange: (value: string) => void;
  readonly isDisabled?: (value: string) => boolean;
  readonly class?: string;
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

export function Select({ options, onChange, isDisabled, class: extra = '', ...attributes }: SelectProps): VNode {
  return (
    <select
      {...attributes}
      class={`input select-input ${extra}`}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value} disabled={isDisabled?.(value)}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface CopyButtonProps {
  /** For the button and for screen readers. */
  readonly label: string;
  /** Shows the label beside the icon. */
  readonly wide?: boolean;
  readonly icon?: IconName;
  readonly text: () => string | Promise<string>;
}

const SHOWN_MS = 1_500;

/** Copies a text, and shows for a moment that it did, or why not. */
export function CopyButton({ label, wide, icon = 'copy', text }: CopyButtonProps): VNode {
  const [outcome, setOutcome] = useState('');
  useEffect(() => {
    if (outcome === '') return undefined;
    const timer = setTimeout(() => setOutcome(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text());
      setOutcome('Copied');
    } catch (error) {
      setOutcome(error instanceof Error ? error.message : 'Not copied');
    }
  };
  return (
    <button
      type="button"
      class={wide === true ? 'button small' : 'icon-button'}
      aria-label={label}
      onClick={() => void copy()}
    >
      <Icon name={outcome === 'Copied' ? 'check' : icon} />
      {wide === true ? <span>{outcome === '' ? label : outcome}</span> : null}
      <span class="visually-hidden" role="status">
        {outcome}
      </span>
    </button>
  );
}

interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly options: ReadonlyArray<readonly [value: Value, text: string]>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice between a few values, all of which are visible. */
export function Segmented<Value extends string>({ label, options, value, onChange }: SegmentedProps<Value>): VNode {
  return (
    <div class="segmented" role="radiogroup" aria-label={label}>
      {options.map(([each, text]) => (
        <label key={each} class={each === value ? 'segment selected' : 'segment'}>
          <input type="radio" name={label} value={each} checked={each === value} onChange={() => onChange(each)} />
          {text}
        </label>
      ))}
    </div>
  );
}

/** An error of the server: its code, its message and its details. */
export function ProblemView({ problem }: { readonly problem: ErrorBody }): VNode {
  const { details = [], error, message, request_id: requestId } = problem;
  return (
    <div class="problem" role="alert">
      <p>
        <code class="problem-code">{error}</code>
      </p>
      {details.length > 1 ? null : <p>{message}</p>}
      {details.length > 1 ? (
        <ul>
          {details.map((detail, at) => (
            <li key={at}>
              {detail.path === '' ? null : <code>{detail.path}</code>} {detail.message}
            </li>
          ))}
        </ul>
      ) : null}
      {requestId === undefined ? null : <p class="quiet small">Request {requestId}</p>}
    </div>
  );
}

interface AnswerNoticeProps {
  readonly answer: { readonly problem?: ErrorBody | undefined; readonly slow: boolean };
  /** The page has nothing to show yet. */
  readonly missing: boolean;
  readonly onRetry?: () => void;
}

/** Why the page has no answer of the server, or no newer one; nothing while all is well. */
export function AnswerNotice({ answer: { problem, slow }, missing, onRetry }: AnswerNoticeProps): VNode | null {
  if (problem !== undefined) {
    return (
      <>
        <ProblemView problem={problem} />
        {onRetry === undefined ? null : (
          <p>
            <button type="button" class="button small" onClick={onRetry}>
              Try again
            </button>
          </p>
        )}
      </>
    );
  }
  if (!missing) return null;
  return (
    <p class="quiet" role="status">
      {slow ? 'The server has not answered yet. A search in the texts of many calls takes longer.' : 'Loading…'}
    </p>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A window above the page. Escape closes it; the focus then returns to the control that opened it. */
export function Dialog({ title, onClose, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="dialog" aria-label={title} ref={dialog} onClose={onClose}>
      <div class="part-head">
        <h2>{title}</h2>
        <span class="grow" />
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </div>
      {children}
    </dialog>
  );
}

/** Moves the focus by a number of links or tabs; after the last one comes the first. Returns the one that has the focus then. */
export function moveFocus(container: HTMLElement | null, steps: number): HTMLElement | undefined {
  const items = [...(container?.querySelectorAll<HTMLElement>('a, [role="tab"]') ?? [])];
  const at = items.findIndex((item) => item === document.activeElement);
  const next = items[(at + steps + items.length) % items.length];
  next?.focus();
  return next;
}

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: ReadonlyArray<TabHead<Name>>;
  readonly selected: Name;
  readonly onSelect: (name: Name) => void;
}

export interface TabHead<Name extends string> {
  readonly name: Name;
  readonly text: ComponentChildren;
}

/** A row of tabs. The arrow keys select the next one, as users of a keyboard expect (WAI-ARIA, tabs pattern). */
export function Tabs<Name extends string>({ label, tabs, selected, onSelect }: TabsProps<Name>): VNode {
  const row = useRef<HTMLDivElement>(null);
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row}>
      {tabs.map(({ name, text }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === selected}
          aria-controls={`panel-${name}`}
          tabIndex={name === selected ? 0 : -1}
          class="tab"
          onClick={() => onSelect(name)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') moveFocus(row.current, 1)?.click();
            else if (event.key === 'ArrowLeft') moveFocus(row.current, -1)?.click();
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class="tab-panel" role="tabpanel" id={`panel-${name}`} aria-labelledby={`tab-${name}`}>
      {children}
    </div>
  );
}
