import { formatBytes, formatCount } from '../../ui/text/format-number.ts'
import type { DatabaseRow, ServingEndpoint } from './database-rows.ts'

/** Maximum addresses to list; the rest are counted. */
const MAX_ADDRESSES = 3

/** A sentence with addresses, which are shown in monospace. */
export type Sentence = readonly (string | { readonly address: string })[]

/**
 * Returns the consequences of dropping a database for its documents and its endpoints, one sentence
 * each.
 */
export function dropConsequences(row: DatabaseRow, reachKnown: boolean): Sentence[] {
  const { mapped } = row
  const loss = [[formatLoss(row)], ['Requests for it will get 404 immediately.']]
  if (!reachKnown) return loss
  if (mapped.length === 0) return [...loss, ['No endpoint lists it in its mapping.']]
  const keep =
    ' it and will keep the name. A database created later with this name will be served there.'
  const first = mapped.filter(({ isDefault }) => isDefault)
  const ending = ' Requests there without a database name will get 404.'
  return [
    ...loss,
    [...addresses(mapped), ` ${mapped.length === 1 ? 'lists' : 'list'}${keep}`],
    ...(first.length > 0 ? [[...formatDefault(first, mapped), ending]] : []),
  ]
}

/** Names the endpoints whose default is the database. Does not repeat the list of all its endpoints. */
function formatDefault(
  first: readonly ServingEndpoint[],
  mapped: readonly ServingEndpoint[],
): Sentence {
  if (first.length === mapped.length) return ['It is the default there.']
  if (mapped.length > MAX_ADDRESSES)
    return [`It is the default of ${formatCount(first.length)} of them.`]
  return ['It is the default of ', ...addresses(first), '.']
}

function formatLoss({ documents, collections, bytes }: DatabaseRow): string {
  if (documents === null || collections === null || bytes === null) {
    return 'All of its documents will be deleted permanently. They have not been counted yet.'
  }
  if (documents === 0) return 'It contains no documents.'
  const held = `${formatCount(documents)} document${documents === 1 ? '' : 's'}`
  const within = `${formatCount(collections)} collection${collections === 1 ? '' : 's'}`
  return `Its ${held} in ${within} (${formatBytes(bytes)}) will be deleted permanently.`
}

function addresses(reach: readonly ServingEndpoint[]): Sentence {
  const shown = reach.slice(0, MAX_ADDRESSES)
  const more = reach.length - shown.length
  return shown
    .flatMap(({ endpoint: address }, at) => {
      if (at === 0) return [{ address }]
      return [at === shown.length - 1 && more === 0 ? ' and ' : ', ', { address }]
    })
    .concat(more > 0 ? [` and ${formatCount(more)} more`] : [])
}
