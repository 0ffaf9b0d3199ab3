import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import { stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import { collectionsQuery, databasesQuery, policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useCreateToken } from '../../shared/create-token.ts'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { copyText } from '../../ui/text/copy-text.ts'
import { reachedAddress } from '../model/admin-access.ts'
import { defaultOf } from '../model/mapping.ts'
import classes from './connect-tab.module.css'
import { type TryCommand, tryCommands } from './curl.ts'
import { PanelSection } from './panel-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** Shows shell commands that send requests to the endpoint, for a chosen database. */
export function ConnectTab({ endpoint }: { endpoint: PanelEndpoint }) {
  const { address, listeners } = endpoint
  const mapping = endpoint.mapping ?? []
  const { data: existing } = useQuery(databasesQuery)
  const mayReadPolicies = useHasRole('operator')
  const { data: policies } = useQuery({ ...policiesQuery, enabled: mayReadPolicies })
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
  if (!parsed.ok || existing === undefined) return null
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
                {role && <CopyWithToken {...{ label, text, role, database }} />}
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

const TOKEN_DAYS = 90
const DAY_MS = 86_400_000
const LONGEST_NAME = 64

/**
 * Creates a token for one database and copies the command with it. The command is shown only if it
 * could not be copied.
 */
function CopyWithToken(props: Required<TryCommand> & { database: string }) {
  const { label, text, role, database } = props
  const create = useCreateToken()
  const [uncopied, setUncopied] = useState<string>()
  const createAndCopy = () => {
    const input = {
      name: `Try ${database}`.slice(0, LONGEST_NAME),
      role,
      databases: [database],
      expires: new Date(Date.now() + TOKEN_DAYS * DAY_MS).toISOString(),
    }
    create.mutate(input, {
      onSuccess: async ({ token }) => {
        const command = text.replace('$TOKEN', token)
        setUncopied((await copyText(command)) ? undefined : command)
      },
    })
  }
  const { info } = create.data ?? {}
  return (
    <>
      <button
        type="button"
        className={`link-button ${classes.create}`}
        aria-label={`Copy with a new token: ${label}`}
        aria-disabled={create.isPending || undefined}
        onClick={createAndCopy}
      >
        Copy with a new token
      </button>
      {create.isError && (
        <p role="alert" className={classes.error}>
          {create.error.message}
        </p>
      )}
      {info !== undefined && (
        <p role="status" className={classes.note}>
          {uncopied === undefined
            ? 'The command was copied'
            : 'The browser could not copy the command, so copy it now'}{' '}
          with the new token <strong>{info.name}</strong>, which has the role {info.role} and
          expires in {TOKEN_DAYS} days. The token is not shown again.{' '}
          <Link to="/me" search={{ revoke: info.id }}>
            Revoke it
          </Link>
        </p>
      )}
      {uncopied !== undefined && (
        <CopyLine label="With the token" text={uncopied} name="the command with the token" />
      )}
    </>
  )
}
