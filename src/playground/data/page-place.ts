import { FILTER_NAMES } from '../../schema/kept-call.ts';

/** The spans of time that a list or a chart can show, in milliseconds. */
export const RANGES = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

export type Range = keyof typeof RANGES;

/** What a user calls each range. */
export const RANGE_TEXTS = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
  ['week', 'Last week'],
] as const satisfies ReadonlyArray<readonly [Range, string]>;

/** The calls to list: those that fit all members, which are never empty. */
export type Filter = Readonly<Partial<Record<(typeof FILTER_NAMES)[number], string>>> & { readonly range?: Range };

/** What the page shows, which its address names. */
export type PagePlace =
  /** Without a name, the function with which the tab began. */
  | { readonly page: 'run'; readonly functionName?: string }
  /** With `compare`, the user selects a call to compare with that one. */
  | { readonly page: 'calls'; readonly filter: Filter; readonly compare?: number }
  /** One call, or two side by side. */
  | { readonly page: 'call'; readonly seq: number; readonly other?: number }
  | { readonly page: 'charts'; readonly range: Range };

/** The place that a fragment names. Anyone can write an address: whatever it does not name is left out. */
export function placeOf(fragment: string): PagePlace {
  const [, page = '', name = '', query = ''] = /^#?(\w*)\/?(\w*)\??(.*)$/su.exec(fragment) ?? [];
  const parameters = new URLSearchParams(query);
  if (page === 'charts') return { page, range: rangeOf(parameters) ?? 'day' };
  if (page === 'calls') {
    const seq = numberOf(name);
    const other = numberOf(parameters.get('with'));
    const compare = numberOf(parameters.get('compare'));
    if (seq !== undefined) return { page: 'call', seq, ...(other !== undefined && { other }) };
    return { page, filter: filterOf(parameters), ...(compare !== undefined && { compare }) };
  }
  return page === 'run' && name !== '' ? { page, functionName: name } : { page: 'run' };
}

/** The fragment of the address of a place. */
export function fragmentOf(place: PagePlace): string {
  switch (place.page) {
    case 'run':
      return place.functionName === undefined ? '#' : `#run/${place.functionName}`;
    case 'calls':
      return `#calls${queryOf({ ...place.filter, compare: place.compare })}`;
    case 'call':
      return `#calls/${place.seq}${queryOf({ with: place.other })}`;
    case 'charts':
      return `#charts${queryOf({ range: place.range })}`;
  }
}

/** Reads a filter from an address or from the fields of a form. */
export function filterOf(parameters: URLSearchParams): Filter {
  const range = rangeOf(parameters);
  const members = FILTER_NAMES.flatMap((name) => {
    const value = parameters.get(name)?.trim() ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(members), ...(range !== undefined && { range }) };
}

/** How many calls a request asks for. */
const PAGE_SIZE = 50;

/** The path that lists the calls that fit the filter at this time; with `before`, those before a call. */
export function callsPath({ range, ...filter }: Filter, now: number, before?: number): string {
  const since = range === undefined ? undefined : now - RANGES[range];
  return `playground/calls${queryOf({ ...filter, since, before, limit: PAGE_SIZE })}`;
}

/** The path of a call in full. */
export function callPath(seq: number): string {
  return `playground/calls/${seq}`;
}

function queryOf(members: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function rangeOf(parameters: URLSearchParams): Range | undefined {
  const range = parameters.get('range') ?? '';
  return Object.hasOwn(RANGES, range) ? (range as Range) : undefined;
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}
