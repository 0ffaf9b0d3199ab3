import { parseAccept } from 'hono/utils/accept'

/** Media types of a collection. */
const TYPES = ['application/json', 'application/x-ndjson', 'text/csv'] as const

type CollectionType = (typeof TYPES)[number]

/**
 * Returns the media type that an `Accept` header prefers (RFC 9110 §12.5.1). Types other than JSON
 * must be named: ranges such as `text/*` mean JSON.
 */
export function acceptedType(accept: string | undefined): CollectionType {
  if (accept === undefined || !OTHER.test(accept)) return 'application/json'
  const ranges = parseAccept(accept).filter(({ q }) => q > 0)
  for (const { type } of ranges) {
    const named = TYPES.find((each) => each === type.toLowerCase())
    if (named !== undefined) return named
    if (type === '*/*' || type === 'application/*') break
  }
  return 'application/json'
}

const OTHER = /x-ndjson|csv/i
