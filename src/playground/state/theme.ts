/** The name under which `/docs` keeps the user's choice too. */
const NAME = 'svc-theme';

/** Changes between dark and light; `theme.js` applies the choice before the first paint. */
export function changeTheme(): void {
  const dark = document.documentElement.classList.toggle('dark-mode');
  try {
    localStorage.setItem(NAME, dark ? 'dark' : 'light');
  } catch {
    // Storage is off: the choice lasts until the user leaves the page.
  }
}
