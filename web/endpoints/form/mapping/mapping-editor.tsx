import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { isDatabaseName } from '../../../../server/contract/database.ts'
import { useAllDatabases } from '../../../api/all-databases.ts'
import { databasesQuery } from '../../../api/queries.ts'
import { useCreateDatabase } from '../../../shared/create-database.ts'
import { ChoiceGroup } from '../../../ui/form/choice-group.tsx'
import { SuggestField } from '../../../ui/form/suggest-field.tsx'
import type { FormSectionProps } from '../address-fields.tsx'
import { isReachedByOthers, nameError } from '../endpoint-draft.ts'
import { MissingDefault } from '../missing-default.tsx'
import classes from './mapping-editor.module.css'
import { MappingList } from './mapping-list.tsx'

const ACCESS = 'Anyone who can connect sees the sign-in page; admins can manage Gatehouse here.'

/**
 * Edits the mapping of an endpoint: all databases, or an ordered list whose first is the default.
 */
export function MappingEditor(props: FormSectionProps & { readonly first?: boolean }) {
  const { draft, errors, onChange, first = false } = props
  const { data: suggested = [] } = useQuery(databasesQuery)
  const existing = useAllDatabases()
  const { reach, names, typing } = draft
  const list = useRef<HTMLDivElement>(null)
  const chosen = (
    <div ref={list} className={classes.only}>
      <MappingList
        names={names}
        existing={existing}
        onChange={(next) => onChange({ names: next })}
      />
      <NameField
        names={names}
        existing={suggested}
        error={errors.databases}
        typing={typing}
        onType={(next) => onChange({ typing: next })}
        onAdd={(name) => onChange({ names: [...names, name], typing: '' })}
      />
      <MissingDefault
        mapping={names}
        existing={existing}
        onCreated={() => list.current?.querySelector<HTMLElement>('input')?.focus()}
      />
    </div>
  )
  const access = (
    <p className={classes.access} data-exposed={isReachedByOthers(draft) || undefined}>
      {ACCESS}
    </p>
  )
  return (
    <ChoiceGroup
      label="Databases"
      choices={[
        { value: 'only', label: 'Only these', detail: chosen },
        { value: 'all', label: 'Every database, and this console', detail: access },
      ]}
      value={reach}
      first={first}
      // With "Only these", the error is shown at the name field.
      error={reach === 'all' ? errors.databases : undefined}
      onChange={(next) => onChange({ reach: next })}
    />
  )
}

interface NameFieldProps {
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
function NameField(props: NameFieldProps) {
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
