import { Hono } from 'hono'
import { type NodeStatus, nodeList } from '../contract/node.ts'
import type { AppEnv } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { describe } from '../http/openapi/describe.ts'
import type { EngineName } from '../storage/engine.ts'

/** `/_api/node`: the nodes that share the store. `node` is the name of this one. */
export const nodeRoutes = (deps: {
  node: string
  store: EngineName
  others: () => readonly NodeStatus[]
  requireRole: RequireRole
}) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'List the nodes that share the store', responses: { 200: nodeList } }),
    deps.requireRole('viewer', { inMemory: true }),
    (c) => {
      const thisNode = {
        name: deps.node,
        own: true,
        state: 'alive' as const,
        seen: new Date().toISOString(),
        started: STARTED,
        store: deps.store,
      }
      return c.json([thisNode, ...deps.others()].sort(byName), 200)
    },
  )

/** When this process started. */
const STARTED = new Date(performance.timeOrigin).toISOString()

const byName = (a: NodeStatus, b: NodeStatus) => (a.name < b.name ? -1 : 1)
