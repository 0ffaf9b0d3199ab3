import { Autocomplete, Button } from '@mantine/core'
import { useState } from 'react'
import { nameFault } from './endpoint-draft.ts'
import classes from './name-field.module.css'

/** What {@link NameField} needs. */
export interface NameFieldProps {
  /** The names that are in the list already. */
  readonly names: readonly string[]
  /** The names to offer; others can be typed, as a database may be created later. */
  readonly existing: readonly string[]
  readonly fault: string | undefined
  /** What stands in the field. */
  readonly typing: string
  readonly onType: (typing: string) => void
  readonly onAdd: (name: string) => void
}

/** Adds a database to the list: chosen or typed, by Enter or the button. */
export function NameField(props: NameFieldProps) {
  const { names, existing, fault, typing, onType, onAdd } = props
  const [ownFault, setOwnFault] = useState<string>()
  // Opened by typing, an arrow or a click, not by the focus: it would cover what the form says.
  const [opened, setOpened] = useState(false)
  const add = (wanted: string) => {
    const found = nameFault(wanted.trim(), names)
    setOwnFault(found)
    if (found !== undefined) return
    setOpened(false)
    onAdd(wanted.trim())
  }
  return (
    <div className={classes.pair}>
      <Autocomplete
        aria-label="Add a database"
        placeholder="Name of a database"
        classNames={{ root: classes.field, input: 'mono', option: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={typing}
        error={ownFault ?? fault}
        openOnFocus={false}
        dropdownOpened={opened}
        onDropdownOpen={() => setOpened(true)}
        onDropdownClose={() => setOpened(false)}
        data={existing.filter((each) => !names.includes(each))}
        comboboxProps={{
          transitionProps: { duration: 120 },
          offset: 4,
          // Within the dialog, where a landmark holds it, and not cut off at its edge.
          withinPortal: false,
          floatingStrategy: 'fixed',
        }}
        onChange={(next) => {
          onType(next)
          setOwnFault(undefined)
        }}
        onKeyDown={(event) => {
          // With an option pointed at, Enter takes that one (onOptionSubmit).
          const pointed = event.currentTarget.getAttribute('aria-activedescendant')
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          if (!pointed) add(typing)
        }}
        onOptionSubmit={(option) => {
          add(option)
          // It writes the option into the field afterwards.
          queueMicrotask(() => onType(''))
        }}
      />
      <Button variant="default" onClick={() => add(typing)}>
        Add
      </Button>
    </div>
  )
}
