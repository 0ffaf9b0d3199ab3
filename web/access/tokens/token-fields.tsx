import { NativeSelect, TextInput } from '@mantine/core'
import { atLeast } from '../../../server/contract/access/principal.ts'
import { usePresence } from '../../api/session/person.ts'
import type { DraftForm } from '../../shared/forms/use-draft-form.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import { roleDescriptions, tokenRoles } from '../roles.ts'
import { ScopeFields } from '../scope/scope-fields.tsx'
import { endOf, type TokenDraft, type TokenLifetime } from './token-draft.ts'
import classes from './token-fields.module.css'

export interface TokenFieldsProps {
  readonly form: DraftForm<TokenDraft>
}

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
      <ScopeFields
        scope={draft}
        error={form.errors.databases}
        note="the token gives no access to endpoints, databases or people."
        onChange={setValues}
      />
      <LifetimeFields form={form} />
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
