import { Autocomplete, Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { nameError } from '../endpoint-draft.ts'
import classes from './name-field.module.css'

export interface NameFieldProps {
  /** The names in the list. */
  readonly names: readonly string[]
  /** Suggested names. Other names can be typed, because a database may be created later. */
  readonly existing: readonly string[]
  readonly error: ReactNode
  /** The text in the field. */
  readonly typing: string
  readonly onType: (typing: string) => void
  readonly onAdd: (name: string) => void
}

/** Adds a database to the list, chosen or typed, with Enter or the button. */
export function NameField(props: NameFieldProps) {
  const { names, existing, error, typing, onType, onAdd } = props
  const [ownError, setOwnError] = useState<string>()
  // Opens on typing, an arrow key or a click. Opened on focus, it would cover the form's messages.
  const [opened, setOpened] = useState(false)
  const add = (wanted: string) => {
    const found = nameError(wanted.trim(), names)
    setOwnError(found)
    if (found !== undefined) return
    setOpened(false)
    onAdd(wanted.trim())
  }
  return (
    <div className={classes.pair}>
      <Autocomplete
        aria-label="Add a database"
        placeholder="Database name"
        classNames={{ root: classes.field, input: 'mono', option: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={typing}
        error={ownError ?? error}
        openOnFocus={false}
        dropdownOpened={opened}
        onDropdownOpen={() => setOpened(true)}
        onDropdownClose={() => setOpened(false)}
        data={existing.filter((each) => !names.includes(each))}
        comboboxProps={{
          transitionProps: { duration: 120 },
          offset: 4,
          // Rendered inside the dialog's landmark, with fixed positioning so that the dialog does
          // not clip it.
          withinPortal: false,
          floatingStrategy: 'fixed',
        }}
        onChange={(next) => {
          onType(next)
          setOwnError(undefined)
        }}
        onKeyDown={(event) => {
          // If an option is highlighted, Enter submits it (`onOptionSubmit`).
          const pointed = event.currentTarget.getAttribute('aria-activedescendant')
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          if (!pointed) add(typing)
        }}
        onOptionSubmit={(option) => {
          add(option)
          // The Autocomplete writes the option into the field after this callback.
          queueMicrotask(() => onType(''))
        }}
      />
      <Button variant="default" onClick={() => add(typing)}>
        Add
      </Button>
    </div>
  )
}
