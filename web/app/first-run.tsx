import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, useEffect, useRef, useState } from 'react'
import { includesDatabase, SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import { databasesQuery, endpointsQuery, tokensQuery } from '../api/queries.ts'
import { useOwnEndpoint } from '../api/session/person.ts'
import { showToast } from '../shared/toast/toast.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { IconCheck } from '../ui/icon/icons.tsx'
import type { Reached } from './first-request.tsx'
import classes from './first-run.module.css'

// Native buttons, because those of Mantine would double the code of an overview on an empty server.

const FirstRequest = lazy(async () => ({
  default: (await import('./first-request.tsx')).FirstRequest,
}))
const CreateDatabaseDialog = lazy(async () => ({
  default: (await import('../data/databases/create-database-dialog.tsx')).CreateDatabaseDialog,
}))
const AddEndpointDialog = lazy(async () => ({
  default: (await import('../endpoints/form/add-endpoint-dialog.tsx')).AddEndpointDialog,
}))
const CreateTokenDialog = lazy(async () => ({
  default: (await import('../access/tokens/create-token-dialog.tsx')).CreateTokenDialog,
}))

/** The dialog of a step, as the URL names it. */
export type FirstRunDialog = 'database' | 'endpoint' | 'token'

/**
 * The steps from an empty server to a first request, each done in a dialog over the page.
 *
 * @param onEnd called when it is dismissed, and when all steps are done.
 */
export function FirstRun({ onEnd }: { onEnd: () => void }) {
  const { add, range } = useSearch({ from: '/overview' })
  const dialogs = useDialogNavigation()
  const own = useOwnEndpoint()
  const databases = useQuery(databasesQuery)
  const endpoints = useQuery(endpointsQuery)
  const tokens = useQuery(tokensQuery('everybody'))
  /** The secret of a new token, which only this page knows. */
  const [secret, setSecret] = useState<string>()
  const isLoaded = databases.isSuccess && endpoints.isSuccess && tokens.isSuccess
  const names = databases.data?.filter((name) => name !== SYSTEM_DATABASE) ?? []
  const reached = findReached(
    names,
    endpoints.data?.filter(({ endpoint }) => endpoint !== own),
  )
  const isUsed = tokens.data?.some(({ lastUsed }) => lastUsed !== null) === true
  const isDone = isLoaded && reached !== undefined && isUsed && add === undefined
  const wasShown = useRef(false)
  useEffect(() => {
    if (isLoaded && !isDone) wasShown.current = true
    if (!isDone) return
    if (wasShown.current) showToast({ text: 'The first request has arrived' })
    onEnd()
  }, [isLoaded, isDone, onEnd])
  if (!isLoaded || isDone) return null

  const search = range === undefined ? {} : { range }
  const open = (next: FirstRunDialog) =>
    dialogs.open({ to: '/overview', search: { ...search, add: next } })
  const close = () => dialogs.close({ to: '/overview', search })
  const database = reached?.database ?? names[0]
  return (
    <section className={classes.card} aria-labelledby="first-run">
      <div className={classes.head}>
        <h2 id="first-run">Serve your first data</h2>
        <button type="button" className="link-button" onClick={onEnd}>
          Dismiss
        </button>
      </div>
      <ol className={classes.steps}>
        <Step
          number={1}
          title="Create a database"
          isDone={database !== undefined}
          result={
            database !== undefined && (
              <Link to="/data/$database" params={{ database }} className="mono">
                {database}
              </Link>
            )
          }
          action={<StepButton label="Create database" onClick={() => open('database')} />}
        >
          It holds JSON documents, in collections.
        </Step>
        <Step
          number={2}
          title="Open an endpoint for it"
          isDone={reached !== undefined}
          result={
            reached !== undefined && (
              <Link to="/endpoints" search={{ open: reached.endpoint.endpoint }} className="mono">
                {reached.endpoint.endpoint}
              </Link>
            )
          }
          action={
            database !== undefined && (
              <StepButton label="Add endpoint" onClick={() => open('endpoint')} />
            )
          }
        >
          Clients connect to its address, and reach only the databases that it serves.
        </Step>
        <Step
          number={3}
          title="Send a request with a token"
          isDone={isUsed}
          action={
            reached !== undefined &&
            secret === undefined && (
              <StepButton label="Create token" onClick={() => open('token')} />
            )
          }
        >
          {reached === undefined ? (
            'A token lets a program read and change documents.'
          ) : (
            <LazyBoundary>
              <FirstRequest {...reached} secret={secret} />
            </LazyBoundary>
          )}
        </Step>
      </ol>
      <LazyBoundary>
        {add === 'database' && <CreateDatabaseDialog onClose={close} />}
        {add === 'endpoint' && <AddEndpointDialog serve={database} onClose={close} />}
        {add === 'token' && (
          <CreateTokenDialog
            initialValues={{
              name: 'First request',
              role: 'editor',
              ...(database !== undefined && { reach: 'only', databases: [database] }),
            }}
            onCreated={setSecret}
            onClose={close}
          />
        )}
      </LazyBoundary>
    </section>
  )
}

/** Returns the first database that an endpoint serves, with that endpoint. */
function findReached(
  names: readonly string[],
  endpoints: readonly EndpointRecord[] = [],
): Reached | undefined {
  for (const database of names) {
    const endpoint = endpoints.find((each) => includesDatabase(each.databases, database))
    if (endpoint !== undefined) return { database, endpoint }
  }
  return undefined
}

function Step(props: {
  number: number
  title: string
  isDone: boolean
  /** What there is once the step is done. */
  result?: ReactNode
  action: ReactNode
  children: ReactNode
}) {
  const { number, title, isDone, result, action, children } = props
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden="true">
        {isDone ? <IconCheck /> : number}
      </span>
      <div className={classes.what}>
        <h3>
          {title}
          {isDone && <span className="visually-hidden">, done</span>}
        </h3>
        {isDone ? result : <div className="dim">{children}</div>}
      </div>
      {!isDone && action}
    </li>
  )
}

function StepButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" className={classes.button} onClick={onClick}>
      {label}
    </button>
  )
}
