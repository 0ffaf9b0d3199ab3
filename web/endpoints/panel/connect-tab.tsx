import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import { stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import { collectionsQuery, databasesQuery, policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { CopyWithToken } from '../../shared/copy-with-token.tsx'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { reachedAddress } from '../model/admin-access.ts'
import { defaultOf } from '../model/mapping.ts'
import classes from './connect-tab.module.css'
import { tryCommands } from './curl.ts'
import { PanelSection } from './panel-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** Shows shell commands that send requests to the endpoint, for a chosen database. */
export function ConnectTab({ endpoint }: { endpoint: PanelEndpoint }) {
  const { address, listeners } = endpoint
  const mapping = endpoint.mapping ?? []
  const { data: existing } = useQuery(databasesQuery)
  const mayReadPolicies = useHasRole('operator')
  const { data: policies, isLoading } = useQuery({ ...policiesQuery, enabled: mayReadPolicies })
  const { readOnly = false, anonymous = 'none' } =
    policies?.find((each) => each.endpoint === address)?.policy ?? {}
  const mayStore = useHasRole('editor') && !readOnly
  const [chosen, setChosen] = useState<string>()
  const parsed = parseAddress(reachedAddress(address, listeners))
  const names = existing ?? []
  const all = mapping.length === 0 ? names : mapping.filter((name) => names.includes(name))
  const usual = defaultOf(mapping)
  const database =
    [chosen, usual].find((name) => name !== undefined && all.includes(name)) ?? all[0]
  const { data: collections } = useQuery({
    ...collectionsQuery(database ?? ''),
    enabled: database !== undefined && database !== SYSTEM_DATABASE,
  })
  if (!parsed.ok || existing === undefined || isLoading) return null
  const isPublic = (name: string) =>
    anonymous !== 'none' && (anonymous.read === true || anonymous.read.includes(name))
  const shown = collections?.find(({ name }) => isPublic(name)) ?? collections?.[0]
  const target = {
    address: parsed.address,
    mapping,
    collection: shown?.name,
    isPublic: shown !== undefined && isPublic(shown.name),
    mayStore: mayStore && collections !== undefined,
  }
  const commands = database === undefined ? [] : tryCommands({ ...target, database }, location)
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
            {commands.map(({ label, text, role }) => (
              <div key={text}>
                <CopyLine label={label} text={text} name={`the command: ${label}`} />
                {role && (
                  <CopyWithToken
                    {...{ label, text }}
                    token={{ name: `Try ${database}`, role, database }}
                  />
                )}
              </div>
            ))}
          </div>
          {readOnly && (
            <p className={classes.note}>
              The policy of the endpoint makes documents read-only, so inserts are rejected.
            </p>
          )}
          {commands.some(({ role }) => role) && (
            <p className={classes.note}>
              <code className="mono">$TOKEN</code> is an API token with the role{' '}
              {mayStore ? 'editor' : 'viewer'} and{' '}
              {database === SYSTEM_DATABASE ? 'access to' : 'the database'}{' '}
              <span className="mono">{database}</span>. <Link to="/me">Create one</Link>
            </p>
          )}
          {parsed.address.scheme === 'unix' && (
            <p className={classes.note}>The socket is on the machine of the node.</p>
          )}
        </>
      )}
    </PanelSection>
  )
}
