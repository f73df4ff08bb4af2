import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { fragmentOf, placeOf, type PagePlace } from '../data/page-place.ts';

/** Changes the place. `replace` leaves no entry in the history of the browser. */
export type Go = (place: PagePlace, replace?: 'replace') => void;

/** The place that the address names, and follows it: links, Back and Forward change the address only. */
export function usePlace(): readonly [PagePlace, Go] {
  const [fragment, setFragment] = useState(location.hash);
  const place = useMemo(() => placeOf(fragment), [fragment]);
  useEffect(() => {
    const follow = (): void => {
      // The start of the page reads the state in such a link.
      if (location.hash.startsWith('#s=')) location.reload();
      else setFragment(location.hash);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    document.title = `${titleOf(place)} – svc playground`;
  }, [place]);
  const go = useCallback<Go>((next, replace) => {
    if (replace === undefined) location.hash = fragmentOf(next);
    else history.replaceState(null, '', fragmentOf(next));
    setFragment(location.hash);
  }, []);
  return [place, go];
}

function titleOf(place: PagePlace): string {
  switch (place.page) {
    case 'run':
      return place.functionName ?? 'Run';
    case 'calls':
      return 'Calls';
    case 'call':
      return place.other === undefined ? `Call ${place.seq}` : `Calls ${place.seq} and ${place.other}`;
    case 'charts':
      return 'Charts';
  }
}
