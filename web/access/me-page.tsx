import { Outlet } from '@tanstack/react-router'
import { useId } from 'react'
import { nameOf, usePresence } from '../api/session/person.ts'
import { setCharacterKeys, useCharacterKeys } from '../shared/keys/character-keys.ts'
import { useLayer } from '../shared/keys/use-layer.ts'
import { roleLabels } from '../shared/session/role-labels.ts'
import { PageHead } from '../ui/layout/page-head.tsx'
import { Section } from '../ui/layout/section.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import classes from './me-page.module.css'
import { SessionList } from './people/session-list.tsx'
import { roleDescriptions } from './roles.ts'
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
      <TokenSection whose="own" />
      <Preferences />
      <Outlet />
    </>
  )
}

/** The person's preferences in this browser: single-character shortcuts. */
function Preferences() {
  const characters = useCharacterKeys()
  const { open } = useLayer()
  const id = useId()
  return (
    <Section title="Preferences" note="Saved in this browser.">
      <div className={classes.preferences}>
        <div>
          <label className={classes.switch}>
            <input
              type="checkbox"
              checked={characters}
              aria-describedby={id}
              onChange={(event) => setCharacterKeys(event.currentTarget.checked)}
            />
            Single-character shortcuts
          </label>
          <p id={id} className={classes.note}>
            Such as N or ?. They never act in text fields. Turn them off if you use speech input or
            press keys by accident.{' '}
            <button
              type="button"
              className={`link-button ${classes.link}`}
              onClick={() => open('keys')}
            >
              Show keyboard shortcuts
            </button>
          </p>
        </div>
      </div>
    </Section>
  )
}
