import {
  createRequireRole as createRealRequireRole,
  type RequireRole,
  type RequireRoleDeps,
} from '../../server/http/guards/require-role.ts'

export * from '../../server/http/guards/require-role.ts'

/**
 * Replaces `server/http/guards/require-role.ts` in a node without authentication: every route is
 * public.
 */
export function createRequireRole(deps: RequireRoleDeps): RequireRole {
  const requireRole = createRealRequireRole(deps)
  return () => requireRole('public')
}
