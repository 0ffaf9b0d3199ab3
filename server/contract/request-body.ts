/**
 * Minimum progress of a request body: at least `bytes`, or its end, in each period of `ms`. Time
 * during which the server does not read does not count.
 */
export const BODY_PROGRESS = Object.freeze({ bytes: 4 * 1024, ms: 10_000 })

/**
 * Emitted by a request whose body makes no progress, so that its reader can respond with 408.
 * Without a listener, the connection is closed.
 */
export const BODY_STALLED = 'bodyStalled'

/**
 * Maximum compression of a request body, beyond its first decompressed bytes. JSON of similar
 * documents is compressed by up to 100 times, a decompression bomb by 1,000.
 */
export const COMPRESSION = Object.freeze({ ratio: 200, from: 1024 * 1024 })
