import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, useId, useState } from 'react'
import { type CertificateRecord, DEFAULT_CERTIFICATE } from '../../server/contract/certificate.ts'
import { announce } from '../ui/announce.tsx'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import groups from '../ui/form/choice-group.module.css'
import hints from '../ui/form/field-hint.module.css'
import { IconX } from '../ui/icon/icons.tsx'
import { IconButton } from '../ui/layout/icon-button.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { TimeLeft } from '../ui/text/relative-time.tsx'
import classes from './certificates.module.css'
import { certificatesQuery } from './queries.ts'

const CertificateDialog = lazy(async () => ({
  default: (await import('./certificate-dialog.tsx')).CertificateDialog,
}))

export interface CertificatePickerProps {
  /** The chosen certificates, in order. */
  readonly chosen: readonly string[]
  /** Names that a new certificate should have. Default: the host of this page. */
  readonly names?: readonly string[] | undefined
  readonly error?: ReactNode
  readonly onChange: (chosen: readonly string[]) => void
}

/** Chooses the certificates of an endpoint in order, and adds one in place. */
export function CertificatePicker({ chosen, names, error, onChange }: CertificatePickerProps) {
  const { data: all = [], isPending } = useQuery(certificatesQuery)
  const [isAdding, setAdding] = useState(false)
  const id = useId()
  const rest = all.filter(({ name }) => !chosen.includes(name))
  const hasDefault = all.some(({ name }) => name === DEFAULT_CERTIFICATE)
  const note =
    chosen.length > 1
      ? 'Each client gets the certificate for the name that it asks for, or else the first.'
      : chosen.length === 0 && hasDefault
        ? `Without a choice, the endpoint has the certificate ${DEFAULT_CERTIFICATE}.`
        : undefined
  return (
    <fieldset
      className={`${groups.group} ${classes.picker}`}
      tabIndex={-1}
      aria-describedby={`${id}-note`}
    >
      <legend className={groups.label}>Certificates</legend>
      {chosen.length > 0 && (
        <ol className={classes.chosen} aria-label="Certificates in order">
          {chosen.map((name, at) => (
            // The focus moves here from a button that its own action removes.
            <li key={name} tabIndex={-1}>
              <span>
                <span className="mono">{name}</span>
                <span className="meta dim">
                  <Summary
                    certificate={all.find((each) => each.name === name)}
                    isPending={isPending}
                  />
                </span>
              </span>
              {at > 0 && (
                <Button
                  ref={keepFocus}
                  variant="subtle"
                  aria-label={`Make ${name} first`}
                  onClick={() => {
                    onChange([name, ...chosen.toSpliced(at, 1)])
                    announce(`${name} is first.`)
                  }}
                >
                  Make first
                </Button>
              )}
              <IconButton
                ref={keepFocus}
                aria-label={`Remove ${name}`}
                data-tip="Remove"
                onClick={() => {
                  onChange(chosen.toSpliced(at, 1))
                  announce(`${name} was removed.`)
                }}
              >
                <IconX />
              </IconButton>
            </li>
          ))}
        </ol>
      )}
      <div className={classes.pair}>
        <NativeSelect
          aria-label="Choose a certificate"
          value=""
          error={error}
          data={[
            { value: '', label: rest.length === 0 ? 'No other certificates' : 'Choose…' },
            ...rest.map(({ name, current }) => ({
              value: name,
              label: current === null ? name : `${name} (${current.names[0]})`,
            })),
          ]}
          onChange={({ currentTarget: { value } }) => {
            if (value !== '') onChange([...chosen, value])
          }}
        />
        <Button variant="default" onClick={() => setAdding(true)}>
          Add a certificate…
        </Button>
      </div>
      <p id={`${id}-note`} className={hints.note}>
        {note}
      </p>
      {isAdding && (
        <LazyBoundary>
          <CertificateDialog
            {...(names && { names })}
            onClose={() => setAdding(false)}
            onSaved={(name) => {
              setAdding(false)
              onChange([...chosen, name])
            }}
          />
        </LazyBoundary>
      )}
    </fieldset>
  )
}

function Summary(props: { certificate: CertificateRecord | undefined; isPending: boolean }) {
  const { certificate, isPending } = props
  if (certificate === undefined) return isPending ? null : 'does not exist'
  if (certificate.current === null) return null
  const { names, notAfter } = certificate.current
  return (
    <>
      {names.slice(0, 2).join(', ')}
      {names.length > 2 && ' …'}, expires <TimeLeft until={notAfter} over="now" />
    </>
  )
}
