import * as z from 'zod/mini'

/** A node among those that share the store. */
const nodeStatus = z.object({
  name: z.string(),
  own: z.boolean().check(z.describe('whether this node sent the response')),
  state: z
    .enum(['alive', 'silent'])
    .check(
      z.describe('silent if it has neither sent a heartbeat lately nor reported that it stops'),
    ),
  seen: z.string().check(z.describe('time of its last heartbeat, ISO 8601, UTC')),
  started: z.optional(z.string().check(z.describe('only of the own node: when it started'))),
  store: z.optional(z.enum(['sqlite', 'postgres']).check(z.describe('only of the own node'))),
})

export type NodeStatus = z.infer<typeof nodeStatus>

/** Response of `GET /_api/node`, by name. An unreachable node is removed after ten minutes. */
export const nodeList = z.array(nodeStatus)
