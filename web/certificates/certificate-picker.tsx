import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { DEFAULT_CERTIFICATE } from '../../server/contract/certificate.ts'
import { announce } from '../ui/announce.tsx'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import hints from '../ui/form/field-hint.module.css'
import { IconArrowDown, IconArrowUp, IconX } from '../ui/icon/icons.tsx'
import { IconButton } from '../ui/layout/icon-button.tsx'
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
  const group = useRef<HTMLFieldSetElement>(null)
  const refocus = useRef<string>(undefined)
  const id = useId()
  // biome-ignore lint/correctness/useExhaustiveDependencies: moving an item loses the focus
  useEffect(() => {
    if (refocus.current === undefined) return
    group.current?.querySelector<HTMLElement>(refocus.current)?.focus()
    refocus.current = undefined
  }, [chosen])
  const move = (name: string, by: -1 | 1) => {
    const from = chosen.indexOf(name)
    if (chosen[from + by] === undefined) return
    refocus.current = `[aria-label="Move ${name} ${by === -1 ? 'up' : 'down'}"]`
    onChange(chosen.toSpliced(from, 1).toSpliced(from + by, 0, name))
    announce(`${name} is ${from + by + 1} of ${chosen.length}.`)
  }
  const rest = all.filter(({ name }) => !chosen.includes(name))
  const hasDefault = all.some(({ name }) => name === DEFAULT_CERTIFICATE)
  const note =
    chosen.length > 1
      ? 'Each client gets the certificate for the name that it asks for, or else the first.'
      : chosen.length === 0 && hasDefault
        ? `Without a choice, the endpoint has the certificate ${DEFAULT_CERTIFICATE}.`
        : undefined
  return (
    <fieldset ref={group} className={classes.picker} aria-describedby={`${id}-note`}>
      <legend>Certificates</legend>
      {chosen.length > 0 && (
        <ol className={classes.chosen} aria-label="Certificates in order">
          {chosen.map((name, at) => {
            const found = all.find((each) => each.name === name)
            return (
              <li key={name}>
                <span>
                  <span className="mono">{name}</span>
                  <span className="meta dim">
                    {found?.current ? (
                      <>
                        {found.current.names.slice(0, 2).join(', ')}
                        {found.current.names.length > 2 && ' …'}, expires{' '}
                        <TimeLeft until={found.current.notAfter} over="now" />
                      </>
                    ) : (
                      found === undefined && !isPending && 'does not exist'
                    )}
                  </span>
                </span>
                {chosen.length > 1 && (
                  <>
                    <IconButton
                      aria-label={`Move ${name} up`}
                      data-tip="Move up"
                      aria-disabled={at === 0 || undefined}
                      onClick={() => move(name, -1)}
                    >
                      <IconArrowUp />
                    </IconButton>
                    <IconButton
                      aria-label={`Move ${name} down`}
                      data-tip="Move down"
                      aria-disabled={at === chosen.length - 1 || undefined}
                      onClick={() => move(name, 1)}
                    >
                      <IconArrowDown />
                    </IconButton>
                  </>
                )}
                <IconButton
                  aria-label={`Remove ${name}`}
                  data-tip="Remove"
                  onClick={() => {
                    refocus.current = 'select'
                    onChange(chosen.filter((each) => each !== name))
                    announce(`${name} was removed.`)
                  }}
                >
                  <IconX />
                </IconButton>
              </li>
            )
          })}
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
