import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { JsonObject } from '../../base/json.ts';
import type { PlaygroundDocument } from '../../schema/playground-document.ts';
import { fragmentOf, type PagePlace } from '../data/page-place.ts';
import type { Go } from '../state/use-place.ts';
import type { Server } from '../state/use-server.ts';
import { CallComparison } from './call-comparison.tsx';
import { CallList } from './call-list.tsx';
import { CallPanel } from './call-panel.tsx';
import { ChartsPanel } from './charts-panel.tsx';

interface CallPagesProps {
  readonly server: Server;
  readonly document: PlaygroundDocument;
  readonly place: Exclude<PagePlace, { readonly page: 'run' }>;
  readonly go: Go;
  /** Fills in the arguments of a call on the page that runs functions. */
  readonly onRunAgain: (functionName: string, args: JsonObject) => void;
}

type ListPlace = Extract<PagePlace, { readonly page: 'calls' }>;

/** The pages of kept calls: the list, a call in full, two side by side, and charts. */
export function CallPages({ server, document, place, go, onRunAgain }: CallPagesProps): VNode {
  const { connection } = server;
  const { calls } = document;
  const lastList = useRef<ListPlace | undefined>(undefined);
  if (place.page === 'calls') lastList.current = place;
  useFocusOnContent(place);
  if ('off' in calls) return <CallsOff reason={calls.off} />;
  const list = lastList.current;
  const back = fragmentOf(list ?? { page: 'calls', filter: {} });
  return (
    <>
      {list === undefined ? null : (
        // Stays, so that Back returns to what was found and to where the user was in it.
        <CallList {...{ connection, document, calls, go }} place={list} hidden={place.page !== 'calls'} />
      )}
      {place.page === 'charts' ? (
        <ChartsPanel connection={connection} range={place.range} />
      ) : place.page === 'calls' ? null : place.other === undefined ? (
        <CallPanel key={place.seq} {...{ connection, document, calls, back, onRunAgain }} seq={place.seq} />
      ) : (
        <CallComparison connection={connection} seqs={[place.seq, place.other]} />
      )}
    </>
  );
}

/** A user of a keyboard or a screen reader who follows a link continues in what it leads to. A filter or a range leads nowhere else. */
function useFocusOnContent(place: CallPagesProps['place']): void {
  const opened =
    place.page === 'charts' ? 'charts' : fragmentOf(place.page === 'calls' ? { ...place, filter: {} } : place);
  const before = useRef(opened);
  useEffect(() => {
    if (before.current !== opened) document.getElementById('content')?.focus({ preventScroll: true });
    before.current = opened;
  }, [opened]);
}

function CallsOff({ reason }: { readonly reason: string }): VNode {
  return (
    <main class="calls-scroll" id="content" tabIndex={-1}>
      <div class="empty">
        <h1>Calls are not kept</h1>
        <p>{reason}</p>
        <p class="quiet">
          Start the server with <code>svc serve --calls sqlite:calls.db</code> or <code>svc dev</code> to keep them.
        </p>
      </div>
    </main>
  );
}
