import { Link } from '@tanstack/react-router'
import { ApiFailure } from '../api.ts'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'

/** What could not be read, of which database. */
export interface ReadFailureProps {
  readonly what: string
  readonly database: string
  readonly error: Error
  readonly onRetry: () => void
}

/** Says why something of a database could not be read; trying again does not bring one that is not there. */
export function ReadFailure({ what, database, error, onRetry }: ReadFailureProps) {
  if (!(error instanceof ApiFailure && error.status === 404)) {
    return <LoadFailure what={what} error={error} onRetry={onRetry} />
  }
  return (
    <Notice failed action={<Link to="/documents">Choose another database</Link>}>
      {what} cannot be read here: there is no database {database}, or the endpoint through which you
      came does not reach it.
    </Notice>
  )
}
