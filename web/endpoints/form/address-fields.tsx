import type { FormErrors } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import type { AddressPart } from '../../../server/contract/endpoints/address.ts'
import { CertificatePicker } from '../../certificates/certificate-picker.tsx'
import { ChoiceGroup } from '../../ui/form/choice-group.tsx'
import { CodeInput } from '../../ui/form/code-input.tsx'
import classes from './address-fields.module.css'
import { type EndpointDraft, isOpenToReaders } from './endpoint-draft.ts'
import { HostField } from './host-field.tsx'
import { splitPasted } from './split-address.ts'
import type { AddressProblem } from './use-address-check.ts'

/** Props of a section of the form. */
export interface FormSectionProps {
  readonly draft: EndpointDraft
  readonly errors: FormErrors
  readonly onChange: (changes: Partial<EndpointDraft>) => void
}

const schemes = [
  { value: 'tcp', label: 'tcp', note: 'HTTP, unencrypted' },
  { value: 'ssl', label: 'ssl', note: 'HTTP over TLS' },
  { value: 'unix', label: 'unix', note: 'HTTP over a Unix socket on this machine' },
] as const

/**
 * Scheme, host and port of a new endpoint, or the path of a unix socket.
 *
 * @param props.addressProblem the result of checking the address while it was typed.
 */
export function AddressFields(
  props: FormSectionProps & { readonly addressProblem: AddressProblem | undefined },
) {
  const { draft, errors, addressProblem, onChange } = props
  const { scheme, host, port, path } = draft
  const last = useRef<HTMLInputElement>(null)
  const lastScheme = useRef(scheme)
  useEffect(() => {
    if (scheme === lastScheme.current) return
    lastScheme.current = scheme
    // Pasting an address of another scheme replaced the focused field.
    if (document.activeElement === document.body) last.current?.focus()
  }, [scheme])
  const errorOf = (field: AddressPart): ReactNode =>
    addressProblem?.field === field &&
    (errors[field] === undefined || addressProblem.endpoint !== null) ? (
      <AddressProblemText addressProblem={addressProblem} />
    ) : (
      errors[field]
    )
  return (
    <>
      <ChoiceGroup
        label="Scheme"
        inline
        choices={schemes}
        value={scheme}
        note={schemes.find(({ value }) => value === scheme)?.note}
        error={errors.scheme}
        onChange={(next) => onChange({ scheme: next })}
      />
      {scheme === 'unix' ? (
        <CodeInput
          ref={last}
          label="Path"
          description="An absolute path. The socket file is created when the endpoint opens."
          placeholder="/run/gatehouse.sock"
          value={path}
          error={errorOf('path')}
          onChange={({ currentTarget: { value } }) =>
            onChange(splitPasted(value) ?? { path: value })
          }
        />
      ) : (
        <div className={classes.pair}>
          <HostField host={host} error={errorOf('host')} onChange={onChange} />
          <CodeInput
            ref={last}
            label="Port"
            placeholder="8530"
            inputMode="numeric"
            data-autofocus
            value={port}
            error={errorOf('port')}
            onChange={({ currentTarget: { value } }) =>
              onChange(splitPasted(value) ?? { port: value })
            }
          />
        </div>
      )}
      {isOpenToReaders(draft) && (
        <p className={classes.warning}>
          Tokens and documents are sent unencrypted.{' '}
          <button type="button" className="link-button" onClick={() => onChange({ scheme: 'ssl' })}>
            Use ssl
          </button>
        </p>
      )}
      {scheme === 'ssl' && (
        <CertificatePicker
          chosen={draft.certificates}
          names={namesOf(host)}
          error={errors.certificates}
          onChange={(certificates) => onChange({ certificates })}
        />
      )}
    </>
  )
}

/** Returns the name that a certificate for a host needs; undefined if the host has many. */
function namesOf(host: string): string[] | undefined {
  const name = host.trim().replace(/^\[|\]$/g, '')
  return name === '' || name === '0.0.0.0' || name === '::' ? undefined : [name]
}

function AddressProblemText({
  addressProblem: { message, endpoint },
}: {
  addressProblem: AddressProblem
}) {
  if (endpoint === null) return message
  return (
    <>
      {message}{' '}
      <Link to="/endpoints" search={{ open: endpoint }}>
        Show endpoint
      </Link>
    </>
  )
}
