import { UnstyledButton } from '@mantine/core'
import { lazy, Suspense, useEffect, useState } from 'react'
import { nameOf, usePresence } from '../../api/session/person.ts'
import { announce } from '../../ui/announce.tsx'
import { IconChevronDown } from '../../ui/icon/icons.tsx'
import classes from './person-menu.module.css'
import { useSignOut } from './use-sign-out.ts'

const load = () => import('./person-menu-list.tsx')
const PersonMenuList = lazy(async () => ({ default: (await load()).PersonMenuList }))

/**
 * Preloads the menu on hover or focus. Errors are ignored here; they surface when the menu opens.
 */
const preload = () => void load().catch(() => {})

/** Prefix of the ids by which the button and the menu refer to each other. */
const ID = 'person-menu'

/** The menu of the signed-in person: sessions, tokens, and sign-out. */
export function PersonMenu() {
  const { person } = usePresence()
  const signOut = useSignOut(person)
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const [open, setOpen] = useState(false)
  const name = nameOf(person)
  const problem = signOut.error?.message
  useEffect(() => {
    if (problem !== undefined) announce(`Sign-out failed. ${problem}`)
  }, [problem])
  return (
    <>
      <UnstyledButton
        ref={setButton}
        id={`${ID}-target`}
        className={classes.button}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? `${ID}-dropdown` : undefined}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(!open)}
      >
        {/* Drawn by CSS, so that the letter is not part of the button's accessible name. */}
        <span className={classes.initial} data-initial={initialOf(name)} aria-hidden="true" />
        <span className={classes.name}>{name}</span>
        <span className="visually-hidden">account menu</span>
        <IconChevronDown size={14} className={classes.chevron} />
      </UnstyledButton>
      {open && button !== null && (
        <Suspense>
          <PersonMenuList
            id={ID}
            button={button}
            person={person}
            problem={problem}
            onSignOut={() => signOut.mutate()}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}

/** Returns the first letter of a name. For a username, skips the provider prefix. */
const initialOf = (name: string): string =>
  ([...name.replace(/^[a-z0-9]+:(?=.)/, '')][0] ?? '?').toUpperCase()
