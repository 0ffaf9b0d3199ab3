import { Outlet } from '@tanstack/react-router'
import { nameOf, usePresence } from '../api/session/person.ts'
import { roleLabels } from '../shared/session/role-labels.ts'
import { PageHead } from '../ui/layout/page-head.tsx'
import { Section } from '../ui/layout/section.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import classes from './me-page.module.css'
import { roleDescriptions } from './people/roles.ts'
import { SessionList } from './people/session-list.tsx'
import { Preferences } from './preferences.tsx'
import { TokenSection } from './tokens/token-section.tsx'

/** The signed-in person's page: role, sessions, tokens, and preferences. */
export function MePage() {
  const { person } = usePresence()
  usePageTitle('My sessions, tokens and preferences')
  return (
    <>
      <PageHead title={nameOf(person)} />
      <p className={classes.person}>
        {person.name !== null && <span className="mono">{person.username}</span>}
        <span>
          {roleLabels[person.role]}. {roleDescriptions[person.role]}
        </span>
      </p>
      <Section
        title="Sessions"
        note="Browsers where you are signed in. End sessions that you don’t recognize."
      >
        <SessionList of="me" />
      </Section>
      <TokenSection title="Tokens" whose="own" path="/me" />
      <Preferences />
      <Outlet />
    </>
  )
}
