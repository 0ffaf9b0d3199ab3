import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiFailure } from '../../api/client.ts'
import { collectionsQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { SidePanel } from '../../ui/layout/side-panel.tsx'
import { formatBytes, formatCount } from '../../ui/text/format-number.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import classes from './database-panel.module.css'
import { type DatabaseRow, servingEndpoints } from './database-rows.ts'
import { SYSTEM_NOT_DROPPABLE } from './database-table.tsx'
import { exportPath, findDatabaseLink, useDatabasesLocation } from './use-databases-location.ts'

/** Maximum collections and endpoints to list; the rest are counted. */
const MAX_LISTED = 20

export interface DatabasePanelProps {
  readonly name: string
  /** Undefined if the database does not exist. */
  readonly row: DatabaseRow | undefined
  readonly onClose: () => void
}

/** Panel of a database: its size, its collections, and the endpoints that reach it. */
export function DatabasePanel({ name, row, onClose }: DatabasePanelProps) {
  const { drop, openImport } = useDatabasesLocation()
  const mayChange = useHasRole('operator')
  const isSystem = name === '_system'
  return (
    <SidePanel
      label={`Database ${name}`}
      title={name}
      onClose={onClose}
      backTo={() => findDatabaseLink(name)}
    >
      {row === undefined ? (
        <Notice
          action={
            <Button variant="default" onClick={onClose}>
              Back to the list
            </Button>
          }
        >
          There is no database {name}. It was dropped or never existed.
        </Notice>
      ) : (
        <div className={classes.parts}>
          <Facts row={row} />
          <div className={classes.actions}>
            <Button variant="default" component="a" href={exportPath(name)} download>
              Export
            </Button>
            {mayChange && (
              <Button variant="default" onClick={openImport}>
                Import
              </Button>
            )}
            {mayChange && (
              <Button
                variant="subtle"
                className={classes.drop}
                aria-disabled={isSystem || undefined}
                data-tip={isSystem ? SYSTEM_NOT_DROPPABLE : undefined}
                onClick={() => isSystem || drop(name)}
              >
                Drop database
              </Button>
            )}
          </div>
          <Collections name={name} />
          <Endpoints row={row} />
        </div>
      )}
    </SidePanel>
  )
}

function Facts({ row }: { row: DatabaseRow }) {
  const { documents, bytes, measured } = row
  if (documents === null || bytes === null || measured === null) {
    return <p className="dim">Counting documents…</p>
  }
  return (
    <p className="dim">
      {formatCount(documents)} document{documents === 1 ? '' : 's'}, {formatBytes(bytes)}, counted{' '}
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
          The endpoint that you are connected through does not serve {name}, so its collections
          cannot be shown here.
        </p>
      )}
      {data === undefined && error !== null && !unreached && (
        <LoadFailure what="The collections" error={error} onRetry={refetch} />
      )}
      {data?.length === 0 && (
        <p className="dim">
          None.{' '}
          <Link to="/documents/$database" params={{ database: name }}>
            Show documents
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
            {data.slice(0, MAX_LISTED).map((each) => (
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
                <td>{each.documents === null ? '–' : formatCount(each.documents)}</td>
                <td>{each.bytes === null ? '–' : formatBytes(each.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data !== undefined && data.length > MAX_LISTED && (
        <Link to="/documents/$database" params={{ database: name }} className={classes.all}>
          Show all {formatCount(data.length)} collections
        </Link>
      )}
    </section>
  )
}

function Endpoints({ row }: { row: DatabaseRow }) {
  const reach = servingEndpoints(row)
  return (
    <section aria-labelledby="endpoints-of">
      <h3 id="endpoints-of">
        Endpoints that serve it <span>{reach.length}</span>
      </h3>
      {reach.length === 0 ? (
        <p className="dim">
          No endpoint serves this database, so its documents cannot be accessed.{' '}
          <Link to="/endpoints">Map an endpoint to it</Link>
        </p>
      ) : (
        <ul className={classes.endpoints}>
          {reach.slice(0, MAX_LISTED).map(({ endpoint, isDefault }) => (
            <li key={endpoint}>
              <Link to="/endpoints" search={{ q: endpoint }} className={`mono ${classes.link}`}>
                {endpoint}
              </Link>
              {isDefault && <span className="dim">default</span>}
            </li>
          ))}
          {reach.length > MAX_LISTED && (
            <li className="dim">and {formatCount(reach.length - MAX_LISTED)} more</li>
          )}
        </ul>
      )}
    </section>
  )
}
