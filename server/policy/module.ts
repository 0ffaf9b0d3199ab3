import type { HttpModule } from '../http/module.ts'
import {
  type FindRoute,
  type PolicyRoutesDeps,
  type PolicyTestRoutesDeps,
  policyRoutes,
  policyTestRoutes,
  policyTrialRoutes,
} from './routes.ts'

export interface PolicyModuleDeps
  extends Omit<PolicyRoutesDeps, 'sendList'>,
    Omit<PolicyTestRoutesDeps, 'findRoute'> {
  readonly http: Pick<HttpModule, 'sendList'>
}

/** Creates the routes of the policies of endpoints. */
export function createPolicyModule({ http, ...deps }: PolicyModuleDeps) {
  const { policies } = deps
  return {
    expire: policies.expire,
    watch: policies.watch,
    routes: policyRoutes({ ...deps, sendList: http.sendList }),
    trialRoutes: policyTrialRoutes(deps),
    testRoutes: (findRoute: FindRoute) => policyTestRoutes({ ...deps, findRoute }),
  }
}

export type PolicyModule = ReturnType<typeof createPolicyModule>
