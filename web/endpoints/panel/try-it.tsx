import { NativeSelect } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { useHasRole } from '../../shared/session/person.ts'
import { CopyLine } from '../../shared/ui/text/copy-line.tsx'
import { reachedAddress } from '../model/admin-access.ts'
import { stateOf } from '../model/endpoint-rows.ts'
import { defaultOf } from '../model/mapping.ts'
import { tryCommands } from './curl.ts'
import { PanelSection } from './panel-section.tsx'
import classes from './try-it.module.css'

/** Shows shell commands that send requests to the endpoint, for a chosen database. */
export function TryIt(props: {
  address: string
  mapping: readonly string[]
  listeners: readonly ListenerStatus[]
  existing: readonly string[] | undefined
}) {
  const { address, mapping, listeners, existing } = props
  const mayStore = useHasRole('operator')
  const [chosen, setChosen] = useState<string>()
  const parsed = parseAddress(reachedAddress(address, listeners))
  if (!parsed.ok || existing === undefined) return null
  const all = mapping.length === 0 ? existing : mapping.filter((name) => existing.includes(name))
  const usual = defaultOf(mapping)
  const database =
    [chosen, usual].find((name) => name !== undefined && all.includes(name)) ?? all[0]
  const listens = listeners.some((one) => stateOf(one) === 'listening')
  return (
    <PanelSection
      title="Try it"
      action={
        all.length > 1 && (
          <NativeSelect
            aria-label="Database to try"
            classNames={{ input: classes.choice ?? '' }}
            data={all.map((name) => ({
              value: name,
              label: name === usual ? `${name} (default)` : name,
            }))}
            value={database}
            onChange={(event) => setChosen(event.currentTarget.value)}
          />
        )
      }
    >
      {!listens && <p className={classes.note}>The endpoint is not listening, so requests fail.</p>}
      {database === undefined ? (
        <p className={classes.note}>None of its databases exist yet, so every request gets 404.</p>
      ) : (
        <>
          <div className={classes.commands}>
            {tryCommands({ address: parsed.address, mapping, database, mayStore }, location).map(
              ({ label, text }) => (
                <CopyLine key={label} label={label} text={text} name={`the command: ${label}`} />
              ),
            )}
          </div>
          <p className={classes.note}>
            <code className="mono">$TOKEN</code> is an API token with the role{' '}
            {mayStore ? 'operator' : 'viewer'} and{' '}
            {database === SYSTEM_DATABASE ? 'access to' : 'the database'}{' '}
            <span className="mono">{database}</span>. <Link to="/me">Create one</Link>
            {parsed.address.scheme === 'unix' && '. The socket is on the machine of the node.'}
          </p>
        </>
      )}
    </PanelSection>
  )
}
