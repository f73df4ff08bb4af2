import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { counted, durationText } from '../../base/amounts.ts';
import type { ListedCall } from '../../schema/kept-call.ts';
import type { PlaygroundCalls, PlaygroundDocument } from '../../schema/playground-document.ts';
import { countText, dollarText, timeText } from '../data/amount-texts.ts';
import { filterOf, fragmentOf, RANGE_TEXTS, type Filter, type PagePlace } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import { useCalls, type FoundCalls } from '../state/use-calls.ts';
import type { Go } from '../state/use-place.ts';
import { AnswerNotice } from '../widgets/controls.tsx';
import { useNarrow } from './function-list.tsx';

export type KeptCalls = Exclude<PlaygroundCalls, { readonly off: string }>;

interface CallListProps {
  readonly connection: ServerConnection;
  readonly document: PlaygroundDocument;
  readonly calls: KeptCalls;
  readonly place: Extract<PagePlace, { readonly page: 'calls' }>;
  readonly hidden: boolean;
  readonly go: Go;
}

/** The calls that fit the filter of the address, the newest first. New ones appear while the user sees the top of the list. */
export function CallList({ connection, document, calls, place, hidden, go }: CallListProps): VNode {
  const { compare, filter } = place;
  const scroller = useRef<HTMLElement>(null);
  const scrolled = useRef(0);
  const [atTop, setAtTop] = useState(true);
  const found = useCalls(connection, filter, atTop && !hidden);
  useLayoutEffect(() => {
    if (!hidden) scroller.current?.scrollTo({ top: scrolled.current });
  }, [hidden]);
  const onScroll = (): void => {
    if (hidden || scroller.current === null) return;
    scrolled.current = scroller.current.scrollTop;
    setAtTop(scrolled.current < 4);
  };
  const showNewest = (): void => {
    scroller.current?.scrollTo({ top: 0 });
    found.showNewest();
  };
  const change = (next: Filter): void => {
    showNewest();
    go({ ...place, filter: next }, 'replace');
  };
  return (
    <main class="calls-page" id={hidden ? undefined : 'content'} tabIndex={-1} hidden={hidden} aria-label="Calls">
      <Filters {...{ document, calls, filter, found }} onChange={change} />
      <section class="calls-scroll" ref={scroller} onScroll={onScroll} aria-label="Found calls">
        {compare === undefined ? null : (
          <p class="select-banner" role="status">
            Select a call to compare with call {compare}.
            <a class="button small" href={fragmentOf({ page: 'call', seq: compare })}>
              Cancel
            </a>
          </p>
        )}
        <ListHead found={found} onNewest={showNewest} />
        <AnswerNotice answer={found} missing={found.newest === undefined || (found.stale && found.slow)} />
        {found.calls.length === 0 ? null : <CallRows {...{ found, compare }} />}
        <ListEnd found={found} filter={filter} />
      </section>
    </main>
  );
}

interface ListHeadProps {
  readonly found: FoundCalls;
  readonly onNewest: () => void;
}

function ListHead({ found: { calls, live, newest }, onNewest }: ListHeadProps): VNode {
  const dropped = newest?.dropped ?? 0;
  return (
    <div class="list-head">
      <h1>Calls</h1>
      <span class="count">{newest === undefined ? '' : countText(calls.length)}</span>
      <span class="grow" />
      {dropped === 0 ? null : (
        <span class="warning">{counted(dropped, 'call')} could not be kept since the start of the server</span>
      )}
      {live ? (
        <span class="live">
          <span class="dot state-streaming" /> Live
        </span>
      ) : (
        <button type="button" class="button small" onClick={onNewest}>
          Show the newest
        </button>
      )}
    </div>
  );
}

interface CallRowsProps {
  readonly found: FoundCalls;
  readonly compare: number | undefined;
}

function CallRows({ found: { calls, stale }, compare }: CallRowsProps): VNode {
  return (
    <>
      <div class="call-row call-head" aria-hidden="true">
        {['Time', 'Function', 'Client and model', 'Outcome', 'Duration', 'Tokens in / out', 'Cost', ''].map((title) => (
          <span key={title}>{title}</span>
        ))}
      </div>
      <ol class={stale ? 'call-rows stale' : 'call-rows'}>
        {calls.map((call) =>
          call.seq === compare ? null : (
            <li key={call.seq}>
              <CallRow call={call} place={linkTo(call, compare)} />
            </li>
          ),
        )}
      </ol>
    </>
  );
}

function linkTo({ seq }: ListedCall, compare: number | undefined): PagePlace {
  return compare === undefined ? { page: 'call', seq } : { page: 'call', seq: compare, other: seq };
}

function CallRow({ call, place }: { readonly call: ListedCall; readonly place: PagePlace }): VNode {
  const { at, client, cost, error, functionName, inputTokens, model, ms, outputTokens, status } = call;
  const tokens = [inputTokens, outputTokens].map((count) => (count === null ? '–' : countText(count)));
  const hasTokens = inputTokens !== null || outputTokens !== null;
  return (
    <a class="call-row" href={fragmentOf(place)}>
      <time class="cell-time" dateTime={new Date(at).toISOString()}>
        {timeText(at)}
      </time>
      <strong class="cell-function">{functionName}</strong>
      <span class="cell-client quiet">{[client, model].filter((name) => name !== null).join(' · ')}</span>
      <span class="cell-outcome">
        <span class={`dot state-${error === null ? 'done' : 'failed'}`} /> {error ?? status}
      </span>
      <span class="cell-ms">{durationText(ms)}</span>
      <span class="cell-tokens">{hasTokens ? <Named name="tokens in, out:">{tokens.join(' / ')}</Named> : null}</span>
      <span class="cell-cost">{cost === null ? null : <Named name="cost:">{dollarText(cost)}</Named>}</span>
      <span class="cell-marks">
        <CallMarks call={call} />
      </span>
    </a>
  );
}

/** A figure with a name that only a screen reader needs: others see the head of its column. */
function Named({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <>
      <span class="visually-hidden">{name} </span>
      {children}
    </>
  );
}

/** What is special about a call: its value has losses, came from the cache, or has feedback; and its tags. */
export function CallMarks({ call: { cache, label, lossy, score, tags } }: { readonly call: ListedCall }): VNode {
  const feedback = [label, score].filter((each) => each !== null).join(' ');
  return (
    <>
      {lossy ? <span class="chip chip-warn">lossy</span> : null}
      {cache === 'hit' ? <span class="chip">cached</span> : null}
      {feedback === '' ? null : (
        <span class="chip chip-feedback">
          <span class="visually-hidden">feedback: </span>
          {feedback}
        </span>
      )}
      {Object.entries(tags ?? {}).map(([name, value]) => (
        <span key={name} class="chip chip-plain">
          {name}: {value}
        </span>
      ))}
    </>
  );
}

/** How far the search has reached, and the way to continue it. */
function ListEnd({ found, filter }: { readonly found: FoundCalls; readonly filter: Filter }): VNode | null {
  const { calls, last, searching, searchFurther, stale } = found;
  if (last === undefined || stale) return null;
  const { next, searchedTo } = last;
  const nothing = Object.keys(filter).length === 0 ? 'No call was kept yet.' : 'No call fits these filters.';
  return (
    <div class={calls.length === 0 ? 'empty' : 'list-end'}>
      {calls.length === 0 ? <p>{next === null ? nothing : 'No call fits these filters so far.'}</p> : null}
      {searchedTo === null || next === null ? null : <p class="quiet">Searched back to {timeText(searchedTo)}.</p>}
      {next === null ? null : (
        <p>
          <button type="button" class="button" disabled={searching} onClick={searchFurther}>
            {searching ? 'Searching…' : 'Search further back'}
          </button>
        </p>
      )}
    </div>
  );
}

interface FiltersProps {
  readonly document: PlaygroundDocument;
  readonly calls: KeptCalls;
  readonly filter: Filter;
  readonly found: FoundCalls;
  readonly onChange: (filter: Filter) => void;
}

/** Waits for the end of a burst of keystrokes. */
const PAUSE_MS = 300;

/** A form whose fields are the members of a filter, with the same names. */
function Filters({ document, calls, filter, found, onChange }: FiltersProps): VNode {
  const narrow = useNarrow();
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  const fragment = fragmentOf({ page: 'calls', filter });
  useLayoutEffect(() => {
    // What the user is typing stays, spaces at its end included.
    if (form.current !== null && fragmentOf({ page: 'calls', filter: filterIn(form.current) }) !== fragment)
      fill(form.current, filter);
  }, [fragment]);
  const apply = (): void => {
    clearTimeout(timer.current);
    if (form.current?.checkValidity() === true) onChange(filterIn(form.current));
  };
  const count = Object.keys(filter).length;
  return (
    <details class="filters" open={!narrow}>
      <summary>Filters{count === 0 ? '' : ` (${count})`}</summary>
      <form
        ref={form}
        aria-label="Filters"
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(apply, PAUSE_MS);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Choice name="range" label="Time" any="All" options={RANGE_TEXTS} />
        <Choice
          name="function"
          label="Function"
          options={[...document.functions.map(({ name }) => name), filter.function]}
        />
        <Choice
          name="client"
          label="Client"
          options={[
            ...document.clients.map(({ name }) => name),
            ...found.calls.map(({ client }) => client),
            filter.client,
          ]}
        />
        <Entry
          name="error"
          label="Error"
          placeholder="any, or a code"
          suggestions={['any', ...found.calls.map(({ error }) => error)]}
        />
        <Entry name="slow" label="Slower than, in ms" type="number" min="0" />
        <Entry name="key" label="Key" />
        <Entry
          name="tag"
          label="Tag"
          placeholder="name:value"
          pattern="[^:]+:.*"
          title="The name and the value of a tag, such as user:42"
        />
        {calls.content === 'none' ? null : <Entry name="text" label="Text" type="search" />}
        <Entry
          name="feedback"
          label="Feedback"
          placeholder="any, or a label"
          suggestions={['any', ...found.calls.map(({ label }) => label)]}
        />
        <Entry name="request" label="Request id" />
        <label class="check">
          <input type="checkbox" name="lossy" value="1" /> Lossy values only
        </label>
        <button type="button" class="button small" disabled={count === 0} onClick={() => onChange({})}>
          Clear the filters
        </button>
      </form>
    </details>
  );
}

function filterIn(form: HTMLFormElement): Filter {
  const entries = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']);
  return filterOf(new URLSearchParams(entries));
}

function fill(form: HTMLFormElement, filter: Filter): void {
  const values = new Map<string, string>(Object.entries(filter));
  for (const field of form.elements) {
    if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = values.has(field.name);
    else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
      field.value = values.get(field.name) ?? '';
  }
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** What to call the absence of a choice. */
  readonly any?: string;
  readonly options: ReadonlyArray<string | null | undefined | readonly [value: string, text: string]>;
}

/** A menu of a filter. Its value belongs to the form, so that it is no property here. */
function Choice({ name, label, any = 'Any', options }: ChoiceProps): VNode {
  const texts = new Map(
    options.flatMap((each) =>
      each === null || each === undefined ? [] : [typeof each === 'string' ? ([each, each] as const) : each],
    ),
  );
  return (
    <label class="filter">
      <span>{label}</span>
      <select name={name} class="input" aria-label={label}>
        <option value="">{any}</option>
        {[...texts].map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface EntryProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'search' | 'number';
  readonly min?: string;
  readonly pattern?: string;
  readonly title?: string;
  readonly placeholder?: string;
  readonly suggestions?: ReadonlyArray<string | null>;
}

function Entry({ name, label, suggestions = [], ...attributes }: EntryProps): VNode {
  const list = `filter-${name}`;
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        {...attributes}
        name={name}
        class="input"
        autocomplete="off"
        spellcheck={false}
        {...(suggestions.length > 0 && { list })}
      />
      <datalist id={list}>
        {[...new Set(suggestions)].map((value) => (value === null ? null : <option key={value} value={value} />))}
      </datalist>
    </label>
  );
}
