import {
  createPermit as createRealPermit,
  type Permit,
  type PermitDeps,
} from '../server/http/permit.ts'

export * from '../server/http/permit.ts'

/** Stands in for `server/http/permit.ts` in a node without authentication: every route is public. */
export function createPermit(deps: PermitDeps): Permit {
  const permit = createRealPermit(deps)
  return () => permit('public')
}
