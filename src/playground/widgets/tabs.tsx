import { useRef } from 'preact/hooks';
import type { ComponentChildren, VNode } from 'preact';

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
  const move = (steps: number): void => {
    const shown = [...(row.current?.querySelectorAll<HTMLButtonElement>('[role="tab"]') ?? [])];
    const at = shown.findIndex((tab) => tab.dataset['name'] === selected);
    const next = shown[(at + steps + shown.length) % shown.length];
    next?.focus();
    next?.click();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row}>
      {tabs.map(({ name, text }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          data-name={name}
          aria-selected={name === selected}
          aria-controls={`panel-${name}`}
          tabIndex={name === selected ? 0 : -1}
          class="tab"
          onClick={() => onSelect(name)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') move(1);
            else if (event.key === 'ArrowLeft') move(-1);
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** The content of a tab. */
export function TabPanel({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class="tab-panel" role="tabpanel" id={`panel-${name}`} aria-labelledby={`tab-${name}`}>
      {children}
    </div>
  );
}
