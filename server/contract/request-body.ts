/**
 * How fast a request body must arrive: at least so many bytes, or its end, in each period of so many
 * ms. Time in which the server itself does not read does not count.
 */
export const BODY_PROGRESS = Object.freeze({ bytes: 4 * 1024, ms: 10_000 })

/**
 * Emitted by a request whose body does not make progress, for its reader to respond with 408. Without
 * a listener, the connection is closed.
 */
export const BODY_STALLED = 'bodyStalled'
