/** Idle timeout of a session, ms: 12 h. */
export const SESSION_IDLE = 12 * 60 * 60 * 1000

/** Minimum interval between two recorded uses of a session, ms. */
export const USE_RECORD_INTERVAL = 60_000

/** Minimum interval between two recorded uses of a token, ms. People check it before they revoke. */
export const TOKEN_RECORD_INTERVAL = 5_000

/**
 * Header of automatic requests of an open page. Such a request does not count as use of the
 * session, because it does not show that a person is present.
 */
export const BACKGROUND_HEADER = 'x-gatehouse-background'
