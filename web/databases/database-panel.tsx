import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiFailure } from '../api.ts'
import { useMay } from '../person.ts'
import { collectionsQuery } from '../queries.ts'
import { SidePanel } from '../side-panel.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { sayBytes, sayCount } from '../ui/say-bytes.ts'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import classes from './database-panel.module.css'
import { type DatabaseRow, reaching } from './database-rows.ts'
import { SYSTEM_STAYS } from './database-table.tsx'
import { findDatabase } from './find-database.ts'
import { useDatabasesLocation } from './use-databases-location.ts'

/** So many endpoints are listed; the others are counted. */
const SHOWN = 20

/** What a {@link DatabasePanel} shows. */
export interface DatabasePanelProps {
  readonly name: string
  /** Undefined: it does not exist (any more). */
  readonly row: DatabaseRow | undefined
  readonly onClose: () => void
}

/** A database: what it holds, collection by collection, and who reaches it. */
export function DatabasePanel({ name, row, onClose }: DatabasePanelProps) {
  const { drop } = useDatabasesLocation()
  const mayChange = useMay('operator')
  const stays = name === '_system'
  return (
    <SidePanel
      label={`Database ${name}`}
      title={name}
      onClose={onClose}
      backTo={() => findDatabase(name)}
    >
      {row === undefined ? (
        <Notice>There is no database {name}. It was dropped, or never existed.</Notice>
      ) : (
        <div className={classes.parts}>
          <Facts row={row} />
          <Collections name={name} />
          <Endpoints row={row} />
          {mayChange && (
            <div className={classes.actions}>
              <Button
                variant="subtle"
                className={classes.drop}
                aria-disabled={stays || undefined}
                data-tip={stays ? SYSTEM_STAYS : undefined}
                onClick={() => stays || drop(name)}
              >
                Drop database
              </Button>
            </div>
          )}
        </div>
      )}
    </SidePanel>
  )
}

function Facts({ row }: { row: DatabaseRow }) {
  const { documents, bytes, measured } = row
  if (documents === null || bytes === null || measured === null) {
    return <p className="dim">Its documents are being counted.</p>
  }
  return (
    <p className="dim">
      {sayCount(documents)} document{documents === 1 ? '' : 's'}, {sayBytes(bytes)}, counted{' '}
      <RelativeTime time={measured} tabIndex={0} />
    </p>
  )
}

function Collections({ name }: { name: string }) {
  const { data, error, refetch } = useQuery({ ...collectionsQuery(name), refetchInterval: 10_000 })
  const unreached = error instanceof ApiFailure && error.status === 404
  return (
    <section aria-labelledby="collections-of">
      <h3 id="collections-of">Collections {data !== undefined && <span>{data.length}</span>}</h3>
      {data === undefined && error === null && <SkeletonRows what="the collections" />}
      {data === undefined && unreached && (
        <p className="dim">
          The endpoint through which you came does not reach {name}: its collections cannot be read
          here.
        </p>
      )}
      {data === undefined && error !== null && !unreached && (
        <LoadFailure what="The collections" error={error} onRetry={refetch} />
      )}
      {data?.length === 0 && (
        <p className="dim">
          None.{' '}
          <Link to="/documents/$database" params={{ database: name }}>
            Go to its documents
          </Link>
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Documents</th>
              <th scope="col">Size</th>
            </tr>
          </thead>
          <tbody>
            {data.map((each) => (
              <tr key={each.name}>
                <th scope="row">
                  <Link
                    to="/documents/$database/$collection"
                    params={{ database: name, collection: each.name }}
                    className={`mono ${classes.link}`}
                  >
                    {each.name}
                  </Link>
                </th>
                <td>{each.documents === null ? '–' : sayCount(each.documents)}</td>
                <td>{each.bytes === null ? '–' : sayBytes(each.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Endpoints({ row }: { row: DatabaseRow }) {
  const reach = reaching(row)
  return (
    <section aria-labelledby="endpoints-of">
      <h3 id="endpoints-of">
        Endpoints that reach it <span>{reach.length}</span>
      </h3>
      {reach.length === 0 ? (
        <p className="dim">
          None: nobody can ask for its documents. <Link to="/endpoints">Map an endpoint to it</Link>
        </p>
      ) : (
        <ul className={classes.endpoints}>
          {reach.slice(0, SHOWN).map(({ endpoint, isDefault }) => (
            <li key={endpoint}>
              <Link to="/endpoints" search={{ q: endpoint }} className={`mono ${classes.link}`}>
                {endpoint}
              </Link>
              {isDefault && <span className="dim">default</span>}
            </li>
          ))}
          {reach.length > SHOWN && (
            <li className="dim">and {sayCount(reach.length - SHOWN)} more</li>
          )}
        </ul>
      )}
    </section>
  )
}
