import { Link, Outlet } from '@tanstack/react-router'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { Tabs, tabClass } from '../ui/layout/tabs.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'

const tabs = [
  { to: '/access/people', label: 'People' },
  { to: '/access/tokens', label: 'Tokens' },
  { to: '/access/providers', label: 'Providers' },
] as const

/** The Access page for admins: people, tokens, and providers. Others see a notice. */
export function AccessPage() {
  if (!useHasRole('admin')) return <NotForYou />
  return (
    <>
      <PageHead title="Access" />
      <Tabs label="Access">
        {tabs.map(({ to, label }) => (
          <Link key={to} to={to} className={tabClass}>
            {label}
          </Link>
        ))}
      </Tabs>
      <Outlet />
    </>
  )
}

function NotForYou() {
  const ownRole = useOwnRole()
  usePageTitle('Access')
  return (
    <>
      <PageHead title="Access" />
      <Notice action={<Link to="/me">Go to your sessions and tokens</Link>}>
        {ownRole}. Only admins can see people, other people’s tokens and providers.
      </Notice>
    </>
  )
}
