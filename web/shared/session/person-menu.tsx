import { UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { nameOf, usePresence } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import classes from './person-menu.module.css'
import { useSignOut } from './use-sign-out.ts'

const load = () => import('./person-menu-list.tsx')
const PersonMenuList = lazy(async () => ({ default: (await load()).PersonMenuList }))

/** Loads the menu before it is asked for, once somebody is about to. Faults wait for the use. */
const preload = () => void load().catch(() => {})

/** What the ids of the menu begin with: they name the button and the menu to each other. */
const ID = 'person-menu'

/** Who is signed in, and what belongs to the person: sessions, tokens, the way out. */
export function PersonMenu() {
  const { person } = usePresence()
  const signOut = useSignOut(person)
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const [open, setOpen] = useState(false)
  const name = nameOf(person)
  const problem = signOut.error?.message
  useEffect(() => {
    if (problem !== undefined) announce(`You are not signed out. ${problem}`)
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
        {/* Drawn by the style sheet: a letter is no part of the button's name. */}
        <span className={classes.initial} data-initial={initialOf(name)} aria-hidden="true" />
        <span className={classes.name}>{name}</span>
        <span className="visually-hidden">your menu</span>
        <IconChevronDown size={14} stroke={1.5} aria-hidden="true" className={classes.chevron} />
      </UnstyledButton>
      {open && button !== null && (
        <Suspense>
          <PersonMenuList
            id={ID}
            button={button}
            person={person}
            problem={problem}
            onSignOut={() => signOut.isPending || signOut.mutate()}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}

/** The first letter of a name; of a username, what follows the provider. */
const initialOf = (name: string): string =>
  ([...name.replace(/^[a-z0-9]+:(?=.)/, '')][0] ?? '?').toUpperCase()
