import { render } from 'preact';
import { App } from './app.tsx';
import { stateOfLink } from './data/link.ts';
import { fragmentOf } from './data/page-place.ts';
import { ServerConnection } from './server/connection.ts';
import { draftOfLink, savedDraft, type DraftStart } from './state/use-draft.ts';

async function start(): Promise<DraftStart> {
  const saved = savedDraft();
  const link = await stateOfLink(location.hash);
  if (link === undefined) return { saved };
  // The next reload of the tab restores its newest state instead.
  history.replaceState(null, '', fragmentOf({ page: 'run', functionName: link.functionName }));
  return {
    saved: draftOfLink(link, saved),
    ...(link.client !== undefined && { client: { kind: 'named', name: link.client } }),
    ...(link.other !== undefined && { other: { kind: 'named', name: link.other } }),
  };
}

const root = document.getElementById('root');
if (root !== null) render(<App connection={new ServerConnection(location.href)} start={await start()} />, root);
