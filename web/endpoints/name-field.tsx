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
  readonly onAdd: (name: string) => void
}

/** Adds a database to the list: chosen or typed, by Enter or the button. */
export function NameField({ names, existing, fault, onAdd }: NameFieldProps) {
  const [name, setName] = useState('')
  const [ownFault, setOwnFault] = useState<string>()
  const add = (wanted: string) => {
    const found = nameFault(wanted.trim(), names)
    setOwnFault(found)
    if (found !== undefined) return
    onAdd(wanted.trim())
    setName('')
  }
  return (
    <div className={classes.pair}>
      <Autocomplete
        aria-label="Add a database"
        placeholder="Name of a database"
        classNames={{ root: classes.field, input: 'mono', option: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={name}
        error={ownFault ?? fault}
        data={existing.filter((each) => !names.includes(each))}
        comboboxProps={{ transitionProps: { duration: 120 }, offset: 4 }}
        onChange={(next) => {
          setName(next)
          setOwnFault(undefined)
        }}
        onKeyDown={(event) => {
          // With an option pointed at, Enter takes that one (onOptionSubmit).
          const pointed = event.currentTarget.getAttribute('aria-activedescendant')
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          if (!pointed) add(name)
        }}
        onOptionSubmit={(option) => {
          add(option)
          // It writes the option into the field afterwards.
          queueMicrotask(() => setName(''))
        }}
      />
      <Button variant="default" onClick={() => add(name)}>
        Add
      </Button>
    </div>
  )
}
