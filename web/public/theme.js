// Runs before the first paint, so that the page never flashes in the other theme. A separate file,
// because the content security policy allows no inline script. Keep the key in sync with THEME_KEY
// in web/ui/theme/theme.ts.
;(() => {
  const system = matchMedia('(prefers-color-scheme: dark)')
  function apply() {
    let chosen = null
    try {
      chosen = localStorage.getItem('gatehouse-theme')
    } catch {
      // Storage is blocked: use the theme of the system.
    }
    const dark = chosen === 'dark' || (chosen !== 'light' && system.matches)
    document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
  }
  apply()
  // In the console, Mantine follows changes.
  if (!document.currentScript?.hasAttribute('data-follow')) return
  system.addEventListener('change', apply)
  addEventListener('storage', apply)
  // A page in the back/forward cache receives no events.
  addEventListener('pageshow', apply)
})()
