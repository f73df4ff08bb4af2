import type { VNode } from 'preact';

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
