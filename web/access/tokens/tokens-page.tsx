import { Outlet } from '@tanstack/react-router'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { TokenSection } from './token-section.tsx'

/** The Tokens page, which lists all tokens for admins. */
export function TokensPage() {
  usePageTitle('Tokens', 'Access')
  return (
    <>
      <TokenSection whose="everybody" />
      <Outlet />
    </>
  )
}
