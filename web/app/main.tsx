import '@fontsource-variable/geist/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import '../ui/theme/mantine-layers.css'
import '../ui/theme/tokens.css'
import '../ui/theme/base.css'
import '../ui/theme/mantine.css'
import '../ui/theme/forced-colors.css'
import '../ui/theme/print.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { LiveProvider } from '../api/live/live-provider.tsx'
import { queryClient } from '../api/query-client.ts'
import { SessionGate } from '../shared/session/session-gate.tsx'
import { resolveVariables, theme, themeStorage } from '../ui/theme/theme.ts'
import { router } from './router.tsx'

// The page's content security policy allows only styles with its nonce. Mantine writes its
// variables into a style element, and the scroll lock of dialogs writes another through get-nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce)

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

// The first content replaces the skeleton before it is painted.
const skeleton = root.nextElementSibling
new MutationObserver((_, observer) => {
  if (root.querySelector(':scope > :not(style)') === null) return
  skeleton?.remove()
  observer.disconnect()
}).observe(root, { childList: true })

ignoreStrayClicks()
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      colorSchemeManager={themeStorage}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <SessionGate>
          <LiveProvider>
            <RouterProvider router={router} />
          </LiveProvider>
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)

/**
 * Ignores the second click of a double-click if it is not on the same control as the first one,
 * which has removed or covered it. The person did not aim at what is there now, such as the button
 * of the next row.
 */
function ignoreStrayClicks(): void {
  let last: Element | undefined
  const onClick = (event: MouseEvent) => {
    const target = targetOf(event)
    const isStray = event.detail > 1 && target !== last
    last = target
    if (!isStray) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  document.addEventListener('click', onClick, { capture: true })
}

/** What a click acts on, instead of the icon or text in it. */
const TARGETS = 'a, button, input, select, textarea, label, summary, [role="option"], [data-row]'

function targetOf({ target }: MouseEvent): Element | undefined {
  if (!(target instanceof Element)) return undefined
  const control = target.closest(TARGETS) ?? target
  // A click on a label is followed by one on its input.
  return control instanceof HTMLLabelElement ? (control.control ?? control) : control
}
