/**
 * The header of every response to a request whose `Accept` matters, errors and 304 included
 * (RFC 9110 §12.5.5). `Accept-Encoding` is added when a response is compressed.
 */
export const VARY_ACCEPT = { Vary: 'Accept' } as const

/**
 * The header of errors outside `/_api`: a page for a browser that navigates, by `Sec-Fetch-Mode` or
 * `Accept`, otherwise JSON.
 */
export const VARY_NAVIGATION = { Vary: 'Accept, Sec-Fetch-Mode' } as const
