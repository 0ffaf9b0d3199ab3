import * as z from 'zod/mini'

/** How long a feed keeps changes: the least, the most and the default, ms. */
const HOUR = 3_600_000
const DAY = 24 * HOUR
const RETAIN = { min: HOUR, max: 90 * DAY, default: '7d' } as const

const retainRule = 'a number of hours or days from 1h to 90d, such as 7d'

/** Body of `PUT /_feed/<collection>`. */
export const feedInput = z.strictObject({
  retain: z
    ._default(
      z.string().check(
        z.regex(/^[1-9][0-9]{0,3}[hd]$/, retainRule),
        z.refine((text) => parseRetain(text) <= RETAIN.max, retainRule),
      ),
      RETAIN.default,
    )
    .check(z.describe('how long changes are kept, such as 12h or 7d')),
})

/** Returns a duration such as `12h` or `7d` in ms. */
export const parseRetain = (text: string): number =>
  Number.parseInt(text, 10) * (text.endsWith('d') ? DAY : HOUR)

/** Returns a duration as {@link parseRetain} parses it. */
export const printRetain = (ms: number): string =>
  ms % DAY === 0 ? `${ms / DAY}d` : `${ms / HOUR}h`

/** Response of `GET /_feed/<collection>`. */
export const feedView = z.object({
  collection: z.string(),
  retain: z.string(),
  first: z.string().check(z.describe('the position after which the oldest kept change follows')),
  last: z.string().check(z.describe('the position of the last change')),
  changes: z.int().check(z.describe('number of kept changes')),
  bytes: z.int().check(z.describe('their approximate size in the database')),
  followers: z.int().check(z.describe('open streams and waiting requests on this node')),
})

export type FeedView = z.infer<typeof feedView>

/** Response of `GET /_feed`: the feeds of a database, by collection. */
export const feedList = z.array(feedView)

/** A change, as `GET /_feed/<collection>/changes` lists it. */
export const documentChange = z.object({
  position: z.string().check(z.describe('follow from here with after')),
  id: z.string(),
  change: z
    .enum(['created', 'replaced', 'deleted'])
    .check(z.describe('deleted also if the document no longer matches the filters')),
  etag: z.string().check(z.describe('of the document after the change, or when it was deleted')),
  at: z.string().check(z.describe('ISO 8601, UTC')),
  document: z.optional(
    z.looseObject({ id: z.string() }).check(z.describe('the document after the change')),
  ),
})

export type DocumentChange = z.infer<typeof documentChange>

/** A page of changes. */
export const changeList = z.array(documentChange)

/** Maximum number of changes of a page, and its default. */
export const CHANGES = { default: 100, max: 1000 } as const

/** Longest time that `Prefer: wait` waits, s. */
export const MAX_WAIT = 60
