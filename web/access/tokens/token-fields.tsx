import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import { atLeast } from '../../server/contract/role.ts'
import { usePresence } from '../person.ts'
import { databasesQuery } from '../queries.ts'
import { ChoiceGroup } from '../ui/choice-group.tsx'
import hints from '../ui/field-hint.module.css'
import { givenRoles, roleSentences, roleWords } from './role-words.ts'
import { endOf, type Lasting, type TokenDraft, type TokenField } from './token-draft.ts'
import classes from './token-fields.module.css'

/** The form of a token: what stands in it, what is wrong, and who is told of changes. */
export interface TokenFieldsProps {
  readonly draft: TokenDraft
  readonly faults: Partial<Record<TokenField, string>>
  readonly onChange: (part: Partial<TokenDraft>) => void
}

const reaches = [
  { value: 'all', label: 'All databases' },
  { value: 'only', label: 'Only these' },
] as const

const lastings: { value: Lasting; label: string }[] = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: 'date', label: 'Until a day…' },
  { value: 'never', label: 'Without an end' },
]

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })

/** Name, role, databases and end of a token. */
export function TokenFields({ draft, faults, onChange }: TokenFieldsProps) {
  const { role: own } = usePresence().person
  const roles = givenRoles.filter((role) => atLeast(own, role))
  return (
    <>
      <TextInput
        label="Name"
        description="After what uses it, so that you know later what stops when you revoke it."
        placeholder="nightly backup"
        autoComplete="off"
        data-autofocus
        value={draft.name}
        error={faults.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <ChoiceGroup
        label="Role"
        inline
        choices={roles.map((role) => ({ value: role, label: roleWords[role] }))}
        value={draft.role}
        note={roleSentences[draft.role]}
        onChange={(role) => onChange({ role })}
      />
      <div>
        <ChoiceGroup
          label="Databases"
          choices={reaches}
          value={draft.reach}
          onChange={(reach) => onChange({ reach })}
        />
        {draft.reach === 'only' && (
          <DatabaseChoice draft={draft} faults={faults} onChange={onChange} />
        )}
      </div>
      <LastingFields draft={draft} faults={faults} onChange={onChange} />
    </>
  )
}

function DatabaseChoice({ draft: { databases }, faults, onChange }: TokenFieldsProps) {
  const { data: existing = [] } = useQuery(databasesQuery)
  const id = useId()
  const toggle = (name: string) =>
    onChange({
      databases: databases.includes(name)
        ? databases.filter((each) => each !== name)
        : [...databases, name],
    })
  return (
    <fieldset className={classes.only} aria-describedby={`${id}-note ${id}-fault`}>
      <legend className="visually-hidden">Only these databases</legend>
      <div className={classes.names}>
        {existing.map((name, index) => (
          <label key={name} className={classes.name}>
            <input
              type="checkbox"
              checked={databases.includes(name)}
              data-fault={(faults.databases !== undefined && index === 0) || undefined}
              onChange={() => toggle(name)}
            />
            <span className="mono">{name}</span>
          </label>
        ))}
      </div>
      <p id={`${id}-note`} className={hints.note}>
        {databases.length > 0 &&
          !databases.includes(SYSTEM_DATABASE) &&
          `Without ${SYSTEM_DATABASE} it cannot ask for endpoints, databases or people.`}
      </p>
      <p id={`${id}-fault`} role="alert" className={hints.fault}>
        {faults.databases}
      </p>
    </fieldset>
  )
}

function LastingFields({ draft, faults, onChange }: TokenFieldsProps) {
  const end = endOf(draft, Date.now())
  return (
    <div className={classes.pair}>
      <NativeSelect
        label="Lasts"
        data={lastings}
        value={draft.lasting}
        onChange={(event) => onChange({ lasting: event.currentTarget.value as Lasting })}
      />
      {draft.lasting === 'date' && (
        <TextInput
          type="date"
          label="Day"
          value={draft.day}
          error={faults.day}
          onChange={(event) => onChange({ day: event.currentTarget.value })}
        />
      )}
      <p className={classes.end}>
        {end === null && 'It works until somebody revokes it.'}
        {end !== null && Number.isFinite(end) && `It ends on ${dayFormat.format(end)}.`}
      </p>
    </div>
  )
}
