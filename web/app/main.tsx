import '@fontsource-variable/geist/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import '../ui/theme/mantine-layers.css'
import '../ui/theme/tokens.css'
import '../ui/theme/base.css'
import '../ui/theme/mantine.css'
import '../ui/theme/forced-colors.css'
import '../ui/print/print.css'

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
import { ignoreStrayClicks } from './ignore-stray-clicks.ts'
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
