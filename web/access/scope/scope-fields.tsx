import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { databasesQuery } from '../../api/queries.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import hints from '../../ui/form/field-hint.module.css'
import { filterByName, NameFilter, NoNameMatch } from '../../ui/form/name-filter.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import type { ScopeDraft } from './scope-draft.ts'
import classes from './scope-fields.module.css'

export interface ScopeFieldsProps {
  readonly scope: ScopeDraft
  readonly error: ReactNode
  /** What follows without `_system`, as the end of a sentence. */
  readonly note: string
  readonly onChange: (change: Partial<ScopeDraft>) => void
}

const choices = [
  { value: 'all', label: 'All databases' },
  { value: 'only', label: 'Only these' },
] as const

/** Fields of the databases that a token or a role is limited to. */
export function ScopeFields(props: ScopeFieldsProps) {
  const { scope, onChange } = props
  return (
    <div>
      <ChoiceGroup
        label="Databases"
        choices={choices}
        value={scope.reach}
        onChange={(reach) => onChange({ reach })}
      />
      {scope.reach === 'only' && <DatabaseChoice {...props} />}
    </div>
  )
}

function DatabaseChoice(props: ScopeFieldsProps) {
  const { scope, error, note } = props
  const { databases } = scope
  const id = useId()
  return (
    <fieldset className={classes.only} aria-describedby={`${id}-note ${id}-error`}>
      <legend className="visually-hidden">Only these databases</legend>
      <QueryResult query={useQuery(databasesQuery)} what="the databases">
        {(existing) => <DatabaseNames {...props} existing={existing} />}
      </QueryResult>
      <p id={`${id}-note`} className={hints.note}>
        {databases.length > 0 &&
          !databases.includes(SYSTEM_DATABASE) &&
          `Without ${SYSTEM_DATABASE}, ${note}`}
      </p>
      <p
        id={`${id}-error`}
        role="alert"
        className={hints.error}
        // Receives the focus if there is no checkbox before it.
        tabIndex={-1}
        data-form-error={error !== undefined || undefined}
      >
        {error}
      </p>
    </fieldset>
  )
}

function DatabaseNames(props: ScopeFieldsProps & { existing: readonly string[] }) {
  const { scope, error, existing, onChange } = props
  const { databases } = scope
  const [text, setText] = useState('')
  // A limit may name databases that were dropped. They stay in the list when they are unchecked.
  const [initial] = useState(databases)
  const missing = initial.filter((name) => !existing.includes(name))
  const names = [...existing, ...missing]
  const filter = { kind: 'database', total: names.length, text, onChange: setText } as const
  const shown = filterByName(
    names.map((name) => ({ name })),
    text,
  )
  const toggle = (name: string) =>
    onChange({
      databases: databases.includes(name)
        ? databases.filter((each) => each !== name)
        : [...databases, name],
    })
  return (
    <>
      <NameFilter {...filter} />
      <div className={classes.names}>
        {shown.length === 0 && text !== '' && <NoNameMatch {...filter} />}
        {shown.map(({ name }, index) => (
          <label key={name} className={classes.name}>
            <input
              type="checkbox"
              checked={databases.includes(name)}
              data-form-error={(error !== undefined && index === 0) || undefined}
              onChange={() => toggle(name)}
            />
            <span className="mono">{name}</span>
            {missing.includes(name) && <span className="dim">does not exist</span>}
          </label>
        ))}
      </div>
      <p role="status" className={hints.note}>
        {formatCount(databases.length)} of {formatCount(names.length)} chosen
      </p>
    </>
  )
}
