import { Button } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { isDatabaseName } from '../../../../server/contract/database.ts'
import { useCreateDatabase } from '../../../shared/create-database.ts'
import { SuggestField } from '../../../ui/form/suggest-field.tsx'
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

/** Adds a database to the list: a chosen, a typed or a new one. */
export function NameField(props: NameFieldProps) {
  const { names, existing, error, typing, onType, onAdd } = props
  const [ownError, setOwnError] = useState<string>()
  const add = (wanted: string) => {
    const found = nameError(wanted.trim(), names)
    setOwnError(found)
    if (found === undefined) onAdd(wanted.trim())
  }
  const create = useCreateDatabase({ acceptExisting: true })
  const pair = useRef<HTMLDivElement>(null)
  const name = typing.trim()
  const createNamed = () => {
    pair.current?.querySelector('input')?.focus()
    const found = nameError(name, names)
    setOwnError(found)
    if (found === undefined) create.mutate(name, { onSuccess: () => onAdd(name) })
  }
  const offersCreate =
    name === '' ? names.length === 0 : !existing.includes(name) && !names.includes(name)
  return (
    <>
      <div ref={pair} className={classes.pair}>
        <SuggestField
          aria-label="Add a database"
          placeholder="Database name"
          className={classes.field}
          value={typing}
          error={ownError ?? create.error?.message ?? error}
          suggestions={existing.filter((each) => !names.includes(each))}
          onChange={(next) => {
            onType(next)
            setOwnError(undefined)
            create.reset()
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
      {offersCreate && (
        <Button
          variant="default"
          className={classes.create}
          aria-disabled={create.isPending || undefined}
          onClick={createNamed}
        >
          Create database{isDatabaseName(name) && ` ${name}`}
        </Button>
      )}
    </>
  )
}
