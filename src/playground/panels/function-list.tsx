import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import type { PlaygroundFunction } from '../../schema/playground-document.ts';
import { useNarrow } from '../state/use-narrow.ts';

interface FunctionListProps {
  readonly functions: readonly PlaygroundFunction[];
  readonly selected: string;
  readonly onSelect: (name: string) => void;
}

/** A longer list has a field to search it. */
const SEARCH_ABOVE = 8;

/** The functions of the program: a list, or a menu in a narrow window. */
export function FunctionList(props: FunctionListProps): VNode {
  return (
    <nav class="function-list" aria-label="Functions">
      {useNarrow() ? <FunctionMenu {...props} /> : <FunctionButtons {...props} />}
    </nav>
  );
}

function FunctionMenu({ functions, selected, onSelect }: FunctionListProps): VNode {
  return (
    <select
      class="input select-input"
      aria-label="Function"
      value={selected}
      onChange={(event) => onSelect(event.currentTarget.value)}
    >
      {functions.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function FunctionButtons({ functions, selected, onSelect }: FunctionListProps): VNode {
  const [search, setSearch] = useState('');
  const found = functions.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
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
      <ul>
        {found.map(({ name }) => (
          <li key={name}>
            <button
              type="button"
              class="function-item"
              aria-current={name === selected ? 'page' : undefined}
              onClick={() => onSelect(name)}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="quiet">No function has this name.</p> : null}
    </>
  );
}
