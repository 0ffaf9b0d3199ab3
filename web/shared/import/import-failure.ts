import { ApiFailure, NoResponse } from '../../api/client.ts'

const CONTINUE = 'To continue, import again and keep or replace stored documents.'

const STORED_NOTE = `Documents that are already stored are kept. ${CONTINUE}`

/** Describes an import without a response. The server may have received all of it. */
const UNKNOWN_NOTE = `Some or all of the documents may have been stored. ${CONTINUE}`

export const CANCELLED = `The import was cancelled. ${STORED_NOTE}`

/** Returns whether a failed import is known to have stored nothing. */
export const storedNothing = (error: Error): boolean =>
  error instanceof SourceError || (error instanceof ApiFailure && error.stored === 0)

/** Returns why an import failed, and what it has stored. */
export function withNote(error: Error): string {
  if (error instanceof SourceError) return `${error.message} Nothing was imported.`
  if (error instanceof NoResponse) return `${error.message} ${UNKNOWN_NOTE}`
  // The server's message says so.
  return storedNothing(error) ? error.message : `${error.message} ${STORED_NOTE}`
}

/** The source cannot be imported. Nothing was sent. */
export class SourceError extends Error {}

export const UNREADABLE = 'The file could not be read. Choose it again.'

export const NO_TEXT = 'This is not a text file.'

/** Returns whether a source is not text, such as an image. UTF-16, which contains zeros, is text. */
export function isBinary(begin: Uint8Array): boolean {
  const mark = `${begin[0]} ${begin[1]}`
  return mark !== '255 254' && mark !== '254 255' && begin.includes(0)
}
