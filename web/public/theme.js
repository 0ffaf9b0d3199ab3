// Runs before the first paint, so that the page never flashes in the other theme. A separate file,
// because the content security policy allows no inline script. Keep the key in sync with THEME_KEY
// in web/shared/ui/theme/theme.ts.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('gatehouse-theme')
  } catch {
    // Storage is blocked: use the theme of the system.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
})()
