/**
 * Options of `vi.waitFor` and `vi.waitUntil`. Their default of one second is too short for a busy
 * machine.
 */
export const WAIT = { timeout: 60_000, interval: 50 }
