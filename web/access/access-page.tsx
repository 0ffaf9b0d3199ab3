import { Link, Outlet } from '@tanstack/react-router'
import { usePresence } from '../person.ts'
import { Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { Tabs, tabClass } from '../ui/tabs.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'

const parts = [
  { to: '/access/people', label: 'People' },
  { to: '/access/tokens', label: 'Tokens' },
  { to: '/access/providers', label: 'Providers' },
] as const

/** The Access page: who may come in, and as what. For admins; others are told so. */
export function AccessPage() {
  const { role } = usePresence().person
  if (role !== 'admin') return <NotForYou role={role} />
  return (
    <>
      <PageHead title="Access" />
      <Tabs label="Access">
        {parts.map(({ to, label }) => (
          <Link key={to} to={to} className={tabClass}>
            {label}
          </Link>
        ))}
      </Tabs>
      <Outlet />
    </>
  )
}

function NotForYou({ role }: { role: string }) {
  usePageTitle('Access')
  return (
    <>
      <PageHead title="Access" />
      <Notice action={<Link to="/me">Go to your sessions and tokens</Link>}>
        You are {role === 'operator' ? 'an operator' : 'a viewer'}: people, the tokens of others and
        providers are for admins.
      </Notice>
    </>
  )
}
