import { useEffect, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { Icon, type IconName } from './icon.tsx';

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
