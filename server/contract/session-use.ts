/** A session that is not used ends after this, ms: 12 h. */
export const SESSION_IDLE = 12 * 60 * 60 * 1000

/**
 * A request with this header is made by a page by itself, such as one that is left open: it tells
 * nothing of whether anybody is there, and does not count as use of the session.
 */
export const BACKGROUND_HEADER = 'X-Gatehouse-Background'
