import * as z from 'zod/mini'

/** A running Gatehouse among those that share its store. */
export const nodeStatus = z.object({
  name: z.string(),
  own: z.boolean().check(z.describe('whether it is the one that answers')),
  state: z
    .enum(['alive', 'silent'])
    .check(z.describe('silent: it neither said that it is alive lately nor that it stops')),
  seen: z.string().check(z.describe('when it last said that it is alive, ISO 8601, UTC')),
})

/** {@link nodeStatus} as a type. */
export type NodeStatus = z.infer<typeof nodeStatus>

/** Answer of `GET /_api/node`, by name. A silent one is forgotten after ten minutes. */
export const nodeList = z.array(nodeStatus)
