import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PlaygroundDocument } from '../../schema/playground-document.ts';
import type { Server } from '../state/use-server.ts';
import { fragmentOf, type PagePlace } from '../data/page-place.ts';
import { CopyButton, IconButton } from '../widgets/controls.tsx';

interface TopBarProps {
  readonly server: Server;
  readonly document: PlaygroundDocument | undefined;
  /** The pages that the user can switch between; empty before the page has the description of the program. */
  readonly pages: readonly PageLink[];
  /** An address that restores the state of the page; undefined if there is none to restore. */
  readonly link: (() => string | Promise<string>) | undefined;
}

export interface PageLink {
  readonly text: string;
  readonly place: PagePlace;
  readonly current: boolean;
}

/** The name of the page, the state of its server, and what concerns the page as a whole. */
export function TopBar({ server, document, pages, link }: TopBarProps): VNode {
  return (
    <header class="top-bar">
      <span class="brand">
        <strong>{document?.title ?? 'svc'}</strong> <span class="brand-page">playground</span>
      </span>
      {pages.length === 0 ? null : (
        <nav class="page-links" aria-label="Pages">
          {pages.map(({ text, place, current }) => (
            <a key={text} href={fragmentOf(place)} aria-current={current ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
      )}
      <ServerStatus server={server} />
      <span class="grow" />
      {document?.doors.map(({ name, path }) => (
        <span key={path} class="door" title={`${name} is on: its clients use this path`}>
          {name} <code>{path}</code>
        </span>
      ))}
      {link === undefined ? null : <CopyButton wide icon="link" label="Copy link" text={link} />}
      <a href="docs">Docs</a>
      <IconButton icon="theme" label="Change between dark and light" onClick={changeTheme} />
    </header>
  );
}

/** How long the page shows that it has new definitions. */
const SHOWN_MS = 3_000;

/** A problem of the connection, or for a moment that the definitions changed: visible wherever the user looks at the page. */
function ServerStatus({ server }: { readonly server: Server }): VNode {
  const { document, problem, reloads } = server;
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(reloads), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [reloads]);
  const failed = problem !== undefined && document !== undefined;
  return (
    <span class={failed ? 'server-status failed' : 'server-status'} role="status">
      {failed ? problem.message : reloads > seen ? 'Definitions reloaded' : ''}
    </span>
  );
}

/** The name under which `/docs` keeps the user's choice too. */
const NAME = 'svc-theme';

/** Changes between dark and light; `theme.js` applies the choice before the first paint. */
function changeTheme(): void {
  const dark = document.documentElement.classList.toggle('dark-mode');
  try {
    localStorage.setItem(NAME, dark ? 'dark' : 'light');
  } catch {
    // Storage is off: the choice lasts until the user leaves the page.
  }
}
