import type { Acknowledgement } from '../../contract/acknowledgement.ts'

/** Returns the response body of a successful change. */
export const acknowledge = (code: 200 | 201 = 200): Acknowledgement => ({
  result: true,
  error: false,
  code,
})
