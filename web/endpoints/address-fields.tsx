import { TextInput } from '@mantine/core'
import { ChoiceGroup } from '../ui/choice-group.tsx'
import classes from './address-fields.module.css'
import { type EndpointDraft, type Faults, isOpenToReaders } from './endpoint-draft.ts'
import { HostField } from './host-field.tsx'
import { hasCertificate } from './page-facts.ts'

/** A part of the form: what stands in it, what is wrong, and who is told of changes. */
export interface FormPart {
  readonly draft: EndpointDraft
  readonly faults: Faults
  readonly onChange: (change: Partial<EndpointDraft>) => void
}

const schemes = [
  { value: 'tcp', label: 'tcp', note: 'HTTP, unencrypted' },
  { value: 'ssl', label: 'ssl', note: 'HTTP over TLS, with the certificate of this server' },
  { value: 'unix', label: 'unix', note: 'HTTP over a socket file of this machine' },
] as const

/** Scheme, host and port of a new endpoint; a path for a unix socket. */
export function AddressFields({ draft, faults, onChange }: FormPart) {
  const { scheme, host, port, path } = draft
  return (
    <>
      <ChoiceGroup
        label="Scheme"
        inline
        choices={schemes}
        value={scheme}
        note={schemes.find(({ value }) => value === scheme)?.note}
        fault={faults.scheme}
        onChange={(next) => onChange({ scheme: next })}
      />
      {scheme === 'ssl' && hasCertificate() === false && faults.scheme === undefined && (
        <p className={classes.warning}>
          This server has no certificate yet. Start Gatehouse with --tls-cert and --tls-key first.
        </p>
      )}
      {scheme === 'unix' ? (
        <TextInput
          label="Path"
          description="Absolute; the file is made when the endpoint opens."
          placeholder="/run/gatehouse.sock"
          classNames={{ input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
          value={path}
          error={faults.path}
          onChange={(event) => onChange({ path: event.currentTarget.value })}
        />
      ) : (
        <div className={classes.pair}>
          <HostField
            host={host}
            fault={faults.host}
            onChange={(next) => onChange({ host: next })}
          />
          <TextInput
            label="Port"
            placeholder="8530"
            classNames={{ input: 'mono' }}
            inputMode="numeric"
            autoComplete="off"
            data-autofocus
            value={port}
            error={faults.port}
            onChange={(event) => onChange({ port: event.currentTarget.value })}
          />
        </div>
      )}
      {isOpenToReaders(draft) && (
        <p className={classes.warning}>Tokens and documents travel unencrypted.</p>
      )}
    </>
  )
}
