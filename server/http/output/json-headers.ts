import type { RequestView } from '../env.ts'
import { requestHeader } from '../input/request-header.ts'
import { acceptedVersion } from '../input/version.ts'
import { VARY_ACCEPT } from './vary.ts'

/**
 * Returns the headers of JSON in the version that the request accepts.
 *
 * @throws Failure `not-acceptable`
 */
export const jsonHeaders = (c: RequestView) => ({
  'Content-Type': `application/json; version=${acceptedVersion(requestHeader(c, 'accept'))}`,
  ...VARY_ACCEPT,
})
