import '@fontsource-variable/geist/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import './ui/mantine-layers.css'
import './ui/tokens.css'
import './ui/base.css'
import './ui/mantine.css'

import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { LiveProvider } from './live/live-provider.tsx'
import { queryClient } from './query-client.ts'
import { router } from './router.tsx'
import { SessionGate } from './session/session-gate.tsx'
import { resolveVariables, theme, themeKeeper } from './ui/theme.ts'

// The policy of the page allows only styles that carry its nonce. Mantine writes its variables in
// one, and what holds the page still behind a dialog writes another and asks get-nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce)

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      colorSchemeManager={themeKeeper}
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
