// Runs before the first paint: applies the user's choice in this browser, otherwise the preference of the system.
(function () {
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');

  function chosen() {
    try {
      return localStorage.getItem('svc-theme');
    } catch {
      return null;
    }
  }

  function apply() {
    const theme = chosen() ?? (prefersDark.matches ? 'dark' : 'light');
    document.documentElement.classList.toggle('dark-mode', theme === 'dark');
  }

  apply();
  prefersDark.addEventListener('change', apply);
})();
