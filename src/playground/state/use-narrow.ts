import { useEffect, useState } from 'preact/hooks';

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
