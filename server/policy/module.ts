import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { createPolicies, type PoliciesDeps } from './policies.ts'
import { type PolicyRoutesDeps, policyRoutes, policyTrialRoutes } from './routes.ts'

export interface PolicyModuleDeps extends PoliciesDeps, Pick<PolicyRoutesDeps, 'canonicalAddress'> {
  readonly http: Pick<HttpModule, 'sendList'>
  readonly requireRole: RequireRole
}

/** Creates the policies of endpoints and their routes. */
export function createPolicyModule(deps: PolicyModuleDeps) {
  const { http, ...rest } = deps
  const policies = createPolicies(deps)
  return {
    expire: policies.expire,
    watch: policies.watch,
    routes: policyRoutes({ ...rest, policies, sendList: http.sendList }),
    trialRoutes: policyTrialRoutes({ policies, requireRole: deps.requireRole }),
  }
}

export type PolicyModule = ReturnType<typeof createPolicyModule>
