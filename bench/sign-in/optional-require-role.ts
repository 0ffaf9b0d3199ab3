import {
  createRequireRole as createRealRequireRole,
  type RequireRole,
  type RequireRoleDeps,
} from '../../server/http/guards/require-role.ts'
import { requestHeader } from '../../server/http/input/headers.ts'

export * from '../../server/http/guards/require-role.ts'

/**
 * Replaces `server/http/guards/require-role.ts` in the measured node: a request without credentials
 * may do everything, and is not authenticated.
 */
export function createRequireRole(deps: RequireRoleDeps): RequireRole {
  const requireRole = createRealRequireRole(deps)
  return (needed, options) => {
    const guard = requireRole(needed, options)
    const optional: typeof guard = (c, next) => {
      const hasCredentials =
        requestHeader(c, 'authorization') !== undefined || requestHeader(c, 'cookie') !== undefined
      return hasCredentials ? guard(c, next) : next()
    }
    // `guard` has the declared permission as a property.
    return Object.assign(optional, guard)
  }
}
