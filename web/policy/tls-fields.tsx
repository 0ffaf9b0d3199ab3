import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { tokensQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import { CertificatePicker } from '../certificates/certificate-picker.tsx'
import type { DraftForm } from '../shared/forms/use-draft-form.ts'
import groups from '../ui/form/choice-group.module.css'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { CodeInput } from '../ui/form/code-input.tsx'
import hints from '../ui/form/field-hint.module.css'
import { Lines } from '../ui/form/lines.tsx'
import { IconX } from '../ui/icon/icons.tsx'
import { IconButton } from '../ui/layout/icon-button.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import classes from './policy-dialog.module.css'
import type { PolicyDraft, TokenRow } from './policy-draft.ts'

/** The certificates of an endpoint, and those of its clients. */
export function TlsFields({ form, says }: { form: DraftForm<PolicyDraft>; says: string }) {
  const { values: draft, errors, setValues } = form
  return (
    <>
      <CertificatePicker
        chosen={draft.certificates}
        error={errors.certificates}
        onChange={(certificates) => setValues({ certificates })}
      />
      <ChoiceGroup
        label="Oldest version"
        inline
        choices={[
          { value: '1.2', label: 'TLS 1.2' },
          { value: '1.3', label: 'TLS 1.3' },
        ]}
        value={draft.minVersion}
        onChange={(minVersion) => setValues({ minVersion })}
      />
      <ChoiceGroup
        label="Client certificates"
        inline
        choices={[
          { value: 'none', label: 'Not requested' },
          { value: 'request', label: 'Optional' },
          { value: 'require', label: 'Required' },
        ]}
        value={draft.clientAuth}
        onChange={(clientAuth) => setValues({ clientAuth })}
      />
      {draft.clientAuth !== 'none' && (
        <>
          <Lines
            label="Authority of the clients"
            description="The certificates that issue client certificates, PEM."
            placeholder="-----BEGIN CERTIFICATE-----"
            {...form.getInputProps('ca')}
          />
          <TokenRows
            rows={draft.tokens}
            error={errors.tokens}
            onChange={(tokens) => setValues({ tokens })}
          />
        </>
      )}
      {says !== '' && <p className={classes.sentence}>{says}</p>}
    </>
  )
}

/** Names in client certificates, each with the token that it stands for. */
function TokenRows(props: {
  rows: readonly TokenRow[]
  error: DraftForm<PolicyDraft>['errors'][string]
  onChange: (rows: readonly TokenRow[]) => void
}) {
  const { rows, error, onChange } = props
  const whose = useHasRole('admin') ? 'everybody' : 'own'
  const { data: tokens = [] } = useQuery(tokensQuery(whose))
  const change = (at: number, row: Partial<TokenRow>) =>
    onChange(rows.map((each, index) => (index === at ? { ...each, ...row } : each)))
  return (
    <fieldset className={`${groups.group} ${classes.tokens}`}>
      <legend className={groups.label}>Tokens</legend>
      <p className={classes.sentence}>
        A client whose certificate has one of these names needs no other credential: it has the role
        and databases of the token.
      </p>
      {rows.map(({ san, token }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two rows can be equal while they are typed
        <div key={at} className={classes.token} tabIndex={-1}>
          <CodeInput
            aria-label={`Name ${at + 1}`}
            placeholder="backup.example"
            value={san}
            error={Boolean(error) && san.trim() === ''}
            onChange={({ currentTarget: { value } }) => change(at, { san: value })}
          />
          <NativeSelect
            aria-label={`Token ${at + 1}`}
            value={token}
            error={Boolean(error) && token === ''}
            data={[
              { value: '', label: 'Choose a token…' },
              ...tokens.map(({ id, name, role }) => ({ value: id, label: `${name} (${role})` })),
              ...(token === '' || tokens.some(({ id }) => id === token)
                ? []
                : [{ value: token, label: token }]),
            ]}
            onChange={({ currentTarget: { value } }) => change(at, { token: value })}
          />
          <IconButton
            ref={keepFocus}
            aria-label={`Remove row ${at + 1}`}
            data-tip="Remove"
            onClick={() => onChange(rows.toSpliced(at, 1))}
          >
            <IconX />
          </IconButton>
        </div>
      ))}
      <p
        role="alert"
        className={hints.error}
        tabIndex={-1}
        data-form-error={error ? '' : undefined}
      >
        {error}
      </p>
      <Button variant="subtle" onClick={() => onChange([...rows, { san: '', token: '' }])}>
        Add a name
      </Button>
    </fieldset>
  )
}
