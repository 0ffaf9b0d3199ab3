import { ApiFailure } from '../../app/api.ts'
import { SourceError } from './source-error.ts'

const STORED_NOTE =
  'Documents that are already stored are kept. To continue, import again and keep or replace stored documents.'

export const CANCELLED = `The import was cancelled. ${STORED_NOTE}`

/** Returns whether a failed import is known to have stored nothing. */
export const storedNothing = (error: Error): boolean =>
  error instanceof SourceError || (error instanceof ApiFailure && error.stored === 0)

/** Returns why an import failed, and what it has stored. */
export function withNote(error: Error): string {
  if (error instanceof SourceError) return `${error.message} Nothing was imported.`
  // The server's message says so.
  return storedNothing(error) ? error.message : `${error.message} ${STORED_NOTE}`
}
