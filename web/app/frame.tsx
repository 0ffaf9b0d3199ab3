import { UnstyledButton } from '@mantine/core'
import { createRootRoute, Link, Outlet, useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import type { Role } from '../../server/contract/access/principal.ts'
import { WaitingBadge } from '../access/waiting-badge.tsx'
import { useConnection } from '../api/live/live-provider.tsx'
import { hasRole, usePresence } from '../api/session/person.ts'
import { DocumentExports } from '../data/export/document-exports.tsx'
import { BulkOutlet } from '../endpoints/bulk/bulk-outlet.tsx'
import { OtherConsoleLink } from '../endpoints/guard/other-console-link.tsx'
import { TrialOutlet } from '../policy/trial-outlet.tsx'
import { GlobalSearch } from '../search/global-search.tsx'
import { SearchButton } from '../search/search-button.tsx'
import { GlobalKeys } from '../shared/keys/global-keys.tsx'
import { FailureBars } from '../shared/reports/failure-bars.tsx'
import { PersonMenu } from '../shared/session/person-menu.tsx'
import { SessionBanner } from '../shared/session/session-banner.tsx'
import { ToastOutlet } from '../shared/toast/toast-outlet.tsx'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import {
  IconCertificate,
  IconDatabase,
  IconDots,
  IconHistory,
  IconOverview,
  IconPlugConnected,
  IconUsers,
  IconWebhook,
} from '../ui/icon/icons.tsx'
import { navItemClass, Shell } from '../ui/layout/shell.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { FloatingBars } from '../ui/overlay/floating-bars.tsx'
import { useEscape } from '../ui/overlay/use-escape.ts'
import { ConnectionBanner, StoreBanner } from './banners.tsx'
import { ConnectionStatus } from './connection-status.tsx'
import moreClasses from './more-pages.module.css'
import { NodeStatus } from './node-status.tsx'

/** The pages in the sidebar, each with the role that it requires. */
const pages = [
  { to: '/overview', label: 'Overview', Icon: IconOverview, needs: 'viewer' },
  { to: '/endpoints', label: 'Endpoints', Icon: IconPlugConnected, needs: 'viewer' },
  { to: '/certificates', label: 'Certificates', Icon: IconCertificate, needs: 'operator' },
  { to: '/data', label: 'Data', Icon: IconDatabase, needs: 'viewer' },
  { to: '/webhooks', label: 'Webhooks', Icon: IconWebhook, needs: 'editor' },
  { to: '/access', label: 'Access', Icon: IconUsers, needs: 'admin' },
  { to: '/activity', label: 'Activity', Icon: IconHistory, needs: 'viewer' },
] as const satisfies readonly { needs: Role; [more: string]: unknown }[]

/** Number of items in the bar at the bottom of a phone. */
const BAR = 5

const MORE = 'more-pages'

/** The last item of the bar at the bottom of a phone, with a list of the pages that don't fit. */
function MorePages({ pages: rest }: { pages: readonly (typeof pages)[number][] }) {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const [openAt, setOpenAt] = useState<string>()
  const isOpen = openAt === path
  useEscape('dialog', isOpen ? () => setOpenAt(undefined) : undefined)
  const isCurrent = rest.some(({ to }) => path.startsWith(to))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it closes when the focus leaves it
    <div
      className={moreClasses.more}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpenAt(undefined)
      }}
    >
      <UnstyledButton
        className={`${navItemClass} ${moreClasses.button}`}
        data-current={isCurrent || undefined}
        aria-expanded={isOpen}
        aria-controls={isOpen ? MORE : undefined}
        onClick={({ currentTarget }) => {
          // Some browsers don't focus a clicked button, and the list closes on blur.
          currentTarget.focus()
          setOpenAt(isOpen ? undefined : path)
        }}
      >
        <IconDots />
        More
      </UnstyledButton>
      {isOpen && (
        <ul id={MORE} className={moreClasses.list}>
          {rest.map(({ to, label, Icon }) => (
            <li key={to}>
              <Link to={to} className={moreClasses.page}>
                <Icon />
                {label}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The frame of every page: navigation, search, banners, and what can open over any page. */
function Frame() {
  const lost = useConnection().state === 'lost'
  const { person, end } = usePresence()
  const offered = pages.filter(({ needs }) => hasRole(person, needs))
  return (
    <Shell
      nav={
        <>
          {offered.map(({ to, label, Icon }) => (
            <Link key={to} to={to} className={navItemClass}>
              <Icon />
              {label}
              {to === '/access' && <WaitingBadge />}
            </Link>
          ))}
          {offered.length > BAR && <MorePages pages={offered.slice(BAR - 1)} />}
        </>
      }
      search={<SearchButton />}
      status={
        <>
          <ConnectionStatus />
          <NodeStatus />
        </>
      }
      person={<PersonMenu />}
      banner={
        <>
          <SessionBanner />
          <ConnectionBanner>
            <OtherConsoleLink />
          </ConnectionBanner>
          <StoreBanner />
          <TrialOutlet />
        </>
      }
      stale={lost || end !== undefined}
    >
      <GlobalKeys />
      <GlobalSearch />
      <DocumentExports>
        <Outlet />
      </DocumentExports>
      <FloatingBars>
        <FailureBars />
        <ToastOutlet />
        <LazyBoundary>
          <BulkOutlet />
        </LazyBoundary>
      </FloatingBars>
    </Shell>
  )
}

function NoSuchPage() {
  usePageTitle('Page not found')
  return (
    <>
      <h1>Page not found</h1>
      <Notice action={<Link to="/overview">Go to Overview</Link>}>
        The address may be mistyped, or come from another version of the console.
      </Notice>
    </>
  )
}

/** Every page is shown in the frame. */
export const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage })
