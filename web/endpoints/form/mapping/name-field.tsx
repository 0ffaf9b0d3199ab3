import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { SuggestField } from '../../../shared/ui/form/suggest-field.tsx'
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
  const add = (wanted: string) => {
    const found = nameError(wanted.trim(), names)
    setOwnError(found)
    if (found === undefined) onAdd(wanted.trim())
  }
  return (
    <div className={classes.pair}>
      <SuggestField
        aria-label="Add a database"
        placeholder="Database name"
        className={classes.field}
        value={typing}
        error={ownError ?? error}
        suggestions={existing.filter((each) => !names.includes(each))}
        onChange={(next) => {
          onType(next)
          setOwnError(undefined)
        }}
        onChoose={add}
        onEnter={(event) => {
          event.preventDefault()
          add(typing)
        }}
      />
      <Button variant="default" onClick={() => add(typing)}>
        Add
      </Button>
    </div>
  )
}
