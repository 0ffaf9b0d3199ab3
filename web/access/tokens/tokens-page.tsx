import { Outlet } from '@tanstack/react-router'
import { usePageTitle } from '../ui/use-page-title.ts'
import { TokenSection } from './token-section.tsx'

/** Everybody's tokens, for admins. */
export function TokensPage() {
  usePageTitle('Tokens', 'Access')
  return (
    <>
      <TokenSection title="Tokens" whose="everybody" path="/access/tokens" />
      <Outlet />
    </>
  )
}
