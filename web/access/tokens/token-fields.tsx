import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { atLeast } from '../../../server/contract/access/principal.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { databasesQuery } from '../../api/queries.ts'
import { usePresence } from '../../api/session/person.ts'
import type { DraftForm } from '../../shared/forms/use-draft-form.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import hints from '../../ui/form/field-hint.module.css'
import { filterByName, NameFilter, NoNameMatch } from '../../ui/form/name-filter.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import { roleDescriptions, tokenRoles } from '../people/roles.ts'
import { endOf, type TokenDraft, type TokenLifetime } from './token-draft.ts'
import classes from './token-fields.module.css'

export interface TokenFieldsProps {
  readonly form: DraftForm<TokenDraft>
}

const scopeChoices = [
  { value: 'all', label: 'All databases' },
  { value: 'only', label: 'Only these' },
] as const

const lifetimes: { value: TokenLifetime; label: string }[] = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'date', label: 'Custom date…' },
  { value: 'never', label: 'No expiration' },
]

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })

/** Fields of the token form: name, role, databases, and lifetime. */
export function TokenFields({ form }: TokenFieldsProps) {
  const { values: draft, setValues } = form
  const { role: ownRole } = usePresence().person
  const roles = tokenRoles.filter((role) => atLeast(ownRole, role))
  return (
    <>
      <TextInput
        label="Name"
        description="The app that will use the token, so that you know later what stops when you revoke it."
        placeholder="nightly backup"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <ChoiceGroup
        label="Role"
        inline
        choices={roles.map((role) => ({ value: role, label: roleLabels[role] }))}
        value={draft.role}
        note={roleDescriptions[draft.role]}
        error={form.errors.role}
        onChange={(role) => setValues({ role })}
      />
      <div>
        <ChoiceGroup
          label="Databases"
          choices={scopeChoices}
          value={draft.reach}
          onChange={(reach) => setValues({ reach })}
        />
        {draft.reach === 'only' && <DatabaseChoice form={form} />}
      </div>
      <LifetimeFields form={form} />
    </>
  )
}

function DatabaseChoice({ form }: TokenFieldsProps) {
  const { databases } = form.values
  const error = form.errors.databases
  const id = useId()
  return (
    <fieldset className={classes.only} aria-describedby={`${id}-note ${id}-error`}>
      <legend className="visually-hidden">Only these databases</legend>
      <QueryResult query={useQuery(databasesQuery)} what="the databases">
        {(existing) => <DatabaseNames form={form} existing={existing} />}
      </QueryResult>
      <p id={`${id}-note`} className={hints.note}>
        {databases.length > 0 &&
          !databases.includes(SYSTEM_DATABASE) &&
          `Without ${SYSTEM_DATABASE}, the token gives no access to endpoints, databases or people.`}
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

function DatabaseNames({ form, existing }: TokenFieldsProps & { existing: readonly string[] }) {
  const { databases } = form.values
  const [text, setText] = useState('')
  const filter = { kind: 'database', total: existing.length, text, onChange: setText } as const
  const shown = filterByName(
    existing.map((name) => ({ name })),
    text,
  )
  const toggle = (name: string) =>
    form.setValues({
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
              data-form-error={(form.errors.databases !== undefined && index === 0) || undefined}
              onChange={() => toggle(name)}
            />
            <span className="mono">{name}</span>
          </label>
        ))}
      </div>
      <p role="status" className={hints.note}>
        {formatCount(databases.length)} of {formatCount(existing.length)} chosen
      </p>
    </>
  )
}

function LifetimeFields({ form }: TokenFieldsProps) {
  const { values: draft } = form
  const end = endOf(draft, Date.now())
  return (
    <div className={classes.pair}>
      <NativeSelect label="Expires" data={lifetimes} {...form.getInputProps('lifetime')} />
      {draft.lifetime === 'date' && (
        <TextInput type="date" label="Date" {...form.getInputProps('day')} />
      )}
      <p className={classes.end}>
        {end === null && 'The token works until it is revoked.'}
        {end !== null && Number.isFinite(end) && `Expires on ${dayFormat.format(end)}.`}
      </p>
    </div>
  )
}
