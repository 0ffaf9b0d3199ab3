import { Failure } from '../failure.ts'
import type { Feed } from './feeds.ts'

/** Returns the position after a change: the epoch of the feed and the number of the change. */
export const positionOf = ({ epoch }: Pick<Feed, 'epoch'>, number: number): string =>
  `${epoch}-${number}`

/**
 * Returns the number of the change that a position is after.
 *
 * @throws Failure `bad-parameter`; `gone` if the feed does not keep the changes after it.
 */
export function parsePosition(feed: Feed, position: string): number {
  const [, epoch, number] = /^([0-9a-f]{12})-([0-9]{1,15})$/.exec(position) ?? []
  if (number === undefined) {
    throw new Failure('bad-parameter', 'after must be the position of a change, or of the feed.', {
      field: 'after',
    })
  }
  requireKept(feed, epoch === feed.epoch ? Number(number) : undefined)
  return Number(number)
}

/** @throws Failure `gone` unless the feed keeps all changes after a number. */
export function requireKept(feed: Feed, after: number | undefined): void {
  if (after !== undefined && after >= feed.first && after <= feed.last) return
  throw new Failure(
    'gone',
    'The changes after this position are no longer kept. Copy the collection again, then follow from `last`.',
    { first: positionOf(feed, feed.first), last: positionOf(feed, feed.last) },
  )
}
