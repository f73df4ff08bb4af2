import { useState, useEffect, useRef } from 'preact/hooks';
import type { VNode } from 'preact';
import { fragmentOf } from '../data/page-place.ts';
import { Select, moveFocus } from '../widgets/controls.tsx';
import type { PlaygroundFunction } from '../../schema/playground-document.ts';

interface FunctionListProps {
  readonly functions: readonly PlaygroundFunction[];
  readonly selected: string;
  readonly onSelect: (name: string) => void;
}

/** A longer list has a field to search it. */
const SEARCH_ABOVE = 8;

/** The functions of the program: a list of links, or a menu in a narrow window. */
export function FunctionList(props: FunctionListProps): VNode {
  return (
    <nav class="function-list" aria-label="Functions">
      {useNarrow() ? <FunctionMenu {...props} /> : <FunctionLinks {...props} />}
    </nav>
  );
}

function FunctionMenu({ functions, selected, onSelect }: FunctionListProps): VNode {
  return (
    <Select
      aria-label="Function"
      value={selected}
      options={functions.map(({ name }) => [name, name])}
      onChange={onSelect}
    />
  );
}

/** Links, of which Tab reaches one, and the arrow keys the others. */
function FunctionLinks({ functions, selected }: FunctionListProps): VNode {
  const list = useRef<HTMLUListElement>(null);
  const [search, setSearch] = useState('');
  const found = functions.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const tabStop = found.some(({ name }) => name === selected) ? selected : found[0]?.name;
  return (
    <>
      <h2>Functions</h2>
      {functions.length > SEARCH_ABOVE ? (
        <input
          class="input"
          type="search"
          aria-label="Search the functions"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null}
      <ul ref={list}>
        {found.map(({ name }) => (
          <li key={name}>
            <a
              class="function-item"
              href={fragmentOf({ page: 'run', functionName: name })}
              aria-current={name === selected ? 'page' : undefined}
              tabIndex={name === tabStop ? 0 : -1}
              onKeyDown={(event) => {
                if (event.key === 'ArrowDown') moveFocus(list.current, 1);
                else if (event.key === 'ArrowUp') moveFocus(list.current, -1);
                else return;
                event.preventDefault();
              }}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="quiet">No function has this name.</p> : null}
    </>
  );
}

/** The width below which the style sheet shows one column. */
const NARROW = '(max-width: 899px)';

/** True while the window has room for one column only. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = (): void => setNarrow(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return narrow;
}
