import { Outlet } from '@tanstack/react-router'
import { Preferences } from '../keys/preferences.tsx'
import { nameOf, usePresence } from '../person.ts'
import { PageHead } from '../ui/page-head.tsx'
import { Section } from '../ui/section.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import classes from './me-page.module.css'
import { roleSentences, roleWords } from './role-words.ts'
import { SessionList } from './session-list.tsx'
import { TokenSection } from './token-section.tsx'

/** One's own page: who one is here, one's sessions and tokens, and what one prefers. */
export function MePage() {
  const { person } = usePresence()
  usePageTitle('My sessions, tokens and preferences')
  return (
    <>
      <PageHead title={nameOf(person)} />
      <p className={classes.who}>
        {person.name !== null && <span className="mono">{person.username}</span>}
        <span>
          {roleWords[person.role]}. {roleSentences[person.role]}
        </span>
      </p>
      <Section title="Sessions" note="Where you are signed in. End those you do not know.">
        <SessionList of="me" />
      </Section>
      <TokenSection title="Tokens" whose="own" path="/me" />
      <Preferences />
      <Outlet />
    </>
  )
}
