import { Hono } from 'hono'
import { type NodeStatus, nodeList } from '../contract/node.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'

/** `/_api/node`: the nodes that share the store, `node` the one that answers. */
export const nodeRoutes = (deps: {
  node: string
  others: () => readonly NodeStatus[]
  permit: Permit
}) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'List the nodes that share the store', answers: { 200: nodeList } }),
    deps.permit('viewer'),
    (c) => {
      const own = {
        name: deps.node,
        own: true,
        state: 'alive' as const,
        seen: new Date().toISOString(),
      }
      return c.json([own, ...deps.others()].sort(byName), 200)
    },
  )

const byName = (a: NodeStatus, b: NodeStatus) => (a.name < b.name ? -1 : 1)
