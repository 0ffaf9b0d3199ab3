import { Button } from '@mantine/core'
import { isDatabaseName } from '../../../server/contract/database.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useCreateDatabase } from '../../shared/create-database.ts'
import classes from './missing-default.module.css'

/**
 * Warns if the first database of a mapping does not exist, because requests that name no database
 * then get 404, and offers to create it. Shows nothing if the database exists or if the databases
 * are not loaded.
 */
export function MissingDefault(props: {
  mapping: readonly string[]
  existing: readonly string[] | undefined
  /** Called after the database is created, before the button disappears. */
  onCreated?: () => void
}) {
  const { mapping, existing, onCreated } = props
  const [name] = mapping
  const mayCreate = useHasRole('operator')
  const create = useCreateDatabase({ acceptExisting: true, onCreated })
  if (name === undefined || existing === undefined || existing.includes(name)) return null
  return (
    <div className={`warning ${classes.notice}`} role="status">
      <p>{formatMissingDefault(name)}</p>
      {create.isError && <p role="alert">{create.error.message}</p>}
      {mayCreate && isDatabaseName(name) && (
        <Button
          variant="default"
          aria-disabled={create.isPending || undefined}
          onClick={() => create.mutate(name)}
        >
          Create database {name}
        </Button>
      )}
    </div>
  )
}

/** Explains the effect of a missing default database on requests. */
export const formatMissingDefault = (name: string): string =>
  `The default database ${name} does not exist. ` +
  'Until it is created, requests without a database name get 404 “database not found”.'
