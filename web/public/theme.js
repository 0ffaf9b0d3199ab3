// Runs before the first paint, so that a chosen theme never flashes the other one. A file of its
// own because the content security policy allows no inline script. Keep the key in step with
// THEME_KEY in web/shared/ui/theme/theme.ts.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('gatehouse-theme')
  } catch {
    // Storage may be forbidden: the system's theme then.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
})()
