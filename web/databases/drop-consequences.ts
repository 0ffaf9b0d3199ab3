import { sayBytes, sayCount } from '../ui/say-bytes.ts'
import type { DatabaseRow, Reach } from './database-rows.ts'

/** Addresses beyond these are counted. */
const NAMED = 3

/** What dropping a database does, in sentences: to its documents, and to the endpoints that name it. */
export function dropConsequences(row: DatabaseRow, reachKnown: boolean): string[] {
  const { naming } = row
  const ending = 'Requests for it are answered with 404 at once.'
  if (!reachKnown) return [whatIsLost(row), ending]
  const first = naming.filter(({ isDefault }) => isDefault)
  return [
    whatIsLost(row),
    ending,
    naming.length === 0 ? 'No endpoint names it.' : '',
    naming.length > 0
      ? `${addresses(naming)} ${naming.length === 1 ? 'names' : 'name'} it and will keep the name: a database created under it later is reached there.`
      : '',
    first.length > 0
      ? `It is the default of ${addresses(first)}: requests there that name no database will find none.`
      : '',
  ].filter((sentence) => sentence !== '')
}

function whatIsLost({ documents, collections, bytes }: DatabaseRow): string {
  if (documents === null || collections === null || bytes === null) {
    return 'All of its documents are deleted and cannot be brought back. They have not been counted yet.'
  }
  if (documents === 0) return 'It holds no documents.'
  const held = `${sayCount(documents)} document${documents === 1 ? '' : 's'}`
  const within = `${sayCount(collections)} collection${collections === 1 ? '' : 's'}`
  return `Its ${held} in ${within} (${sayBytes(bytes)}) ${documents === 1 ? 'is' : 'are'} deleted and cannot be brought back.`
}

function addresses(reach: readonly Reach[]): string {
  const shown = reach.slice(0, NAMED).map(({ endpoint }) => endpoint)
  const more = reach.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${sayCount(more)} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}
