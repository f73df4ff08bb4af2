import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import type { PlaygroundDocument } from '../schema/playground-document.ts';
import { LONGEST_LINK, linkFragment, type LinkState } from './data/link.ts';
import type { PagePlace } from './data/page-place.ts';
import { isRunning, type Run } from './data/run.ts';
import { CallPages } from './panels/call-pages.tsx';
import { FunctionList, useNarrow } from './panels/function-list.tsx';
import { HistoryPanel } from './panels/history-panel.tsx';
import { InputPanel } from './panels/input-panel.tsx';
import { estimatedTokens, PromptPanel, usePrompt, type Prompt } from './panels/prompt-panel.tsx';
import { RunBar } from './panels/run-bar.tsx';
import { RunPanel } from './panels/run-panel.tsx';
import { TopBar, type PageLink } from './panels/top-bar.tsx';
import type { ServerConnection } from './server/connection.ts';
import { useDraft, type Draft, type DraftActions, type DraftStart } from './state/use-draft.ts';
import { usePlace } from './state/use-place.ts';
import { curlCommand, useRuns, type Runs } from './state/use-runs.ts';
import { useServer, type Server } from './state/use-server.ts';
import { TabPanel, Tabs, type TabHead } from './widgets/controls.tsx';
import type { DefinitionProblem } from '../schema/program.ts';
import type { JsonObject } from '../base/json.ts';

interface AppProps {
  readonly connection: ServerConnection;
  readonly start: DraftStart;
}

/** The page: asks for the key if the server requires one, and then shows the functions. */
export function App({ connection, start }: AppProps): VNode {
  const server = useServer(connection);
  const { document, key, problem } = server;
  if (document !== undefined) return <Workbench server={server} document={document} start={start} />;
  return (
    <>
      <TopBar server={server} document={undefined} pages={[]} link={undefined} />
      {key === undefined ? null : <KeyForm refused={key === 'refused'} onKey={server.enterKey} />}
      {key === undefined ? <p class="empty quiet">{problem?.message ?? 'Loading…'}</p> : null}
    </>
  );
}

type Tab = 'input' | 'prompt' | 'run' | 'history';

interface WorkbenchProps {
  readonly server: Server;
  readonly document: PlaygroundDocument;
  readonly start: DraftStart;
}

/** The page that the address names, below the bar that all of them share. */
function Workbench({ server, document, start }: WorkbenchProps): VNode {
  const [place, go] = usePlace();
  const first = start.saved?.functionName ?? '';
  const lastFunction = useRef(first);
  if (place.page === 'run') lastFunction.current = place.functionName ?? first;
  const [draft, actions] = useDraft(document, lastFunction.current, start);
  const runs = useRuns(server.connection, draft?.fn.name ?? '');
  const [tab, setTab] = useState<Tab>('input');
  const isRun = place.page === 'run';
  const selectFunction = (functionName: string): void => go({ page: 'run', functionName });
  const runAgain = (functionName: string, args: JsonObject): void => {
    actions.setArgsOf(functionName, args);
    setTab('input');
    selectFunction(functionName);
  };
  return (
    <>
      <a class="skip-link" href="#content" onClick={skipToContent}>
        Skip to the content
      </a>
      <TopBar
        server={server}
        document={document}
        pages={pageLinks(place, draft)}
        link={isRun ? draft && (() => linkOf(draft)) : () => location.href}
      />
      <ProblemBanner problems={document.problems} />
      {!isRun ? (
        <CallPages server={server} document={document} place={place} go={go} onRunAgain={runAgain} />
      ) : draft === undefined ? (
        <p class="empty">The definitions contain no functions.</p>
      ) : (
        <RunPage
          {...{ server, document, draft, actions, runs, tab }}
          onTab={setTab}
          onSelect={selectFunction}
          onReuse={({ functionName, args }) => runAgain(functionName, args)}
        />
      )}
    </>
  );
}

/** The fragment of an address is the place of the page, so that it cannot be a target. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function pageLinks({ page }: PagePlace, draft: Draft | undefined): readonly PageLink[] {
  const run: PagePlace = draft === undefined ? { page: 'run' } : { page: 'run', functionName: draft.fn.name };
  return [
    { text: 'Run', place: run, current: page === 'run' },
    { text: 'Calls', place: { page: 'calls', filter: {} }, current: page === 'calls' || page === 'call' },
    { text: 'Charts', place: { page: 'charts', range: 'day' }, current: page === 'charts' },
  ];
}

interface RunPageProps {
  readonly server: Server;
  readonly document: PlaygroundDocument;
  readonly draft: Draft;
  readonly actions: DraftActions;
  readonly runs: Runs;
  /** In a wide window, the input is beside the other tabs. */
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
  readonly onSelect: (functionName: string) => void;
  readonly onReuse: (used: Run) => void;
}

/** The functions, the arguments of one of them, its prompt and its runs. */
function RunPage(props: RunPageProps): VNode {
  const { server, document, draft, actions, runs, onTab, onSelect, onReuse } = props;
  const prompt = usePrompt(server, draft);
  const narrow = useNarrow();
  const tab = props.tab === 'input' && !narrow ? 'prompt' : props.tab;
  const run = (): void => {
    if (draft.hasFault) return;
    runs.start(draft);
    onTab('run');
  };
  useShortcuts(run, runs);
  const show = (ids: readonly number[]): void => {
    runs.show(ids);
    onTab('run');
  };
  return (
    <main class={`workbench tab-${tab}`}>
      <FunctionList functions={document.functions} selected={draft.fn.name} onSelect={onSelect} />
      <section class="input-column" aria-label="Input">
        <div class="input-scroll" id="content" tabIndex={-1}>
          <InputPanel draft={draft} actions={actions} prompt={prompt} />
        </div>
        <RunBar draft={draft} actions={actions} document={document} runs={runs} onRun={run} />
      </section>
      <section class="output-column" aria-label="Prompt and answers">
        <Tabs label="Views" tabs={tabHeads(prompt, runs, narrow)} selected={tab} onSelect={onTab} />
        <div class="output-scroll">
          <TabPanel name={tab}>
            {tab === 'run' ? (
              <RunPanel shown={runs.shown} command={(each) => curlCommand(server.connection, each)} />
            ) : tab === 'history' ? (
              <HistoryPanel runs={runs.all} onShow={show} onReuse={onReuse} />
            ) : (
              <PromptPanel prompt={prompt} />
            )}
          </TabPanel>
        </div>
      </section>
    </main>
  );
}

function tabHeads(prompt: Prompt, runs: Runs, narrow: boolean): ReadonlyArray<TabHead<Tab>> {
  const tokens = estimatedTokens(prompt);
  const running = runs.shown.some(isRunning);
  return [
    ...(narrow ? [{ name: 'input', text: 'Input' } as const] : []),
    { name: 'prompt', text: <>Prompt {tokens === undefined ? null : <span class="count">≈ {tokens}</span>}</> },
    { name: 'run', text: <>Answer {running ? <span class="dot state-streaming" /> : null}</> },
    {
      name: 'history',
      text: <>History {runs.all.length === 0 ? null : <span class="count">{runs.all.length}</span>}</>,
    },
  ];
}

/** Ctrl+Enter (or Command+Enter) runs, Escape stops, wherever the focus is. */
function useShortcuts(run: () => void, runs: Runs): void {
  // Before the next key: an older function would run older arguments.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      } else if (event.key === 'Escape') runs.stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

/** An address that restores the function, its arguments and the clients of the definitions. */
async function linkOf({ args, client, fn, mode, other }: Draft): Promise<string> {
  const state: LinkState = {
    functionName: fn.name,
    args,
    mode,
    ...(client.kind === 'named' && { client: client.name }),
    ...(other?.kind === 'named' && { other: other.name }),
  };
  const fragment = await linkFragment(state);
  if (fragment.length > LONGEST_LINK) throw new Error('The arguments are too long for a link');
  return new URL(fragment, location.href).href;
}

interface KeyFormProps {
  /** The server does not accept the last key. */
  readonly refused: boolean;
  readonly onKey: (key: string) => void;
}

function KeyForm({ refused, onKey }: KeyFormProps): VNode {
  const [key, setKey] = useState('');
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        onKey(key);
      }}
    >
      <h1>This server requires a key</h1>
      {refused ? (
        <p class="error" role="alert">
          The server does not accept this key.
        </p>
      ) : null}
      <label class="stack-tight">
        API key
        <input
          class="input"
          type="password"
          autocomplete="current-password"
          required
          spellcheck={false}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <p class="quiet small">The page keeps it in this tab only, and sends it with every request.</p>
      <button type="submit" class="button primary">
        Continue
      </button>
    </form>
  );
}

/** The errors that keep the server from serving the newest definitions, each with its lines. */
function ProblemBanner({ problems }: { readonly problems: readonly DefinitionProblem[] }): VNode | null {
  if (problems.length === 0) return null;
  const count = problems.length === 1 ? 'an error' : `${problems.length} errors`;
  return (
    <details class="problem-banner" open>
      <summary role="alert">
        <strong>The definitions have {count}.</strong> svc keeps serving the last good ones.
      </summary>
      <ul>
        {problems.map((problem, at) => (
          <DefinitionProblemView key={at} problem={problem} />
        ))}
      </ul>
    </details>
  );
}

function DefinitionProblemView({ problem }: { readonly problem: DefinitionProblem }): VNode {
  const { code, frame, help, message, place } = problem;
  return (
    <li class="definition-problem">
      <p>
        <strong>{message}</strong> {code === undefined ? null : <code class="quiet">{code}</code>}
      </p>
      {place === undefined ? null : <code>{place}</code>}
      {frame === undefined ? null : <pre class="code-frame">{frame}</pre>}
      {help === undefined ? null : <p class="quiet">{help}</p>}
    </li>
  );
}
