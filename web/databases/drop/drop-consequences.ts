import { formatBytes, formatCount } from '../../shared/ui/text/format-bytes.ts'
import type { DatabaseRow, ServingEndpoint } from '../database-rows.ts'

/** Maximum addresses to list; the rest are counted. */
const MAX_ADDRESSES = 3

/**
 * Returns the consequences of dropping a database for its documents and its endpoints, one sentence
 * each.
 */
export function dropConsequences(row: DatabaseRow, reachKnown: boolean): string[] {
  const { mapped } = row
  const ending = 'Requests for it get 404 immediately.'
  if (!reachKnown) return [formatLoss(row), ending]
  const first = mapped.filter(({ isDefault }) => isDefault)
  return [
    formatLoss(row),
    ending,
    mapped.length === 0 ? 'No endpoint lists it in its mapping.' : '',
    mapped.length > 0
      ? `${addresses(mapped)} ${mapped.length === 1 ? 'lists' : 'list'} it and will keep the name. A database created later with this name is served there.`
      : '',
    first.length > 0
      ? `It is the default of ${addresses(first)}. Requests there without a database name will get 404.`
      : '',
  ].filter((sentence) => sentence !== '')
}

function formatLoss({ documents, collections, bytes }: DatabaseRow): string {
  if (documents === null || collections === null || bytes === null) {
    return 'All of its documents are deleted permanently. They have not been counted yet.'
  }
  if (documents === 0) return 'It contains no documents.'
  const held = `${formatCount(documents)} document${documents === 1 ? '' : 's'}`
  const within = `${formatCount(collections)} collection${collections === 1 ? '' : 's'}`
  return `Its ${held} in ${within} (${formatBytes(bytes)}) ${documents === 1 ? 'is' : 'are'} deleted permanently.`
}

function addresses(reach: readonly ServingEndpoint[]): string {
  const shown = reach.slice(0, MAX_ADDRESSES).map(({ endpoint }) => endpoint)
  const more = reach.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${formatCount(more)} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}
