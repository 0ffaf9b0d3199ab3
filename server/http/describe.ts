import type { MiddlewareHandler } from 'hono'
import { describeRoute } from 'hono-openapi'
import * as z from 'zod/mini'
import { errorObject } from '../contract/acknowledgement.ts'

type Schema = z.ZodMiniType

/** What `/_api/openapi.json` says of a route. */
export interface RouteDescription {
  /** One sentence: what it does. */
  readonly summary: string
  /** The schema that validates the query string, if it takes one. */
  readonly query?: z.ZodMiniObject
  /** The conditional headers that the route reads. */
  readonly conditions?: readonly ('If-Match' | 'If-None-Match')[]
  /** The schema that validates the body, if it takes one. */
  readonly body?: Schema
  /** What it answers by status: a schema, or the media type where it is not JSON. */
  readonly answers: Readonly<Record<number, Schema | `${string}/${string}`>>
  /** The statuses with which it fails, and when. */
  readonly failures?: Readonly<Record<number, string>>
}

/**
 * Describes a route for `/_api/openapi.json`, from the same schemas that validate. It stands first
 * among the handlers of every route under `/_api`; `app.test.ts` finds one that has none.
 */
export function describe(route: RouteDescription): MiddlewareHandler {
  const answers = Object.entries(route.answers).map(([status, what]) => [
    status,
    {
      description: 'Done',
      content: typeof what === 'string' ? { [what]: {} } : json(what, 'output'),
    },
  ])
  const failures = Object.entries(route.failures ?? {}).map(([status, when]) => [
    status,
    { description: when, content: json(errorObject, 'output') },
  ])
  return describeRoute({
    summary: route.summary,
    parameters: [
      ...(route.query ? parameters(route.query) : []),
      ...(route.conditions ?? []).map((name) => ({
        $ref: `#/components/parameters/${name.replaceAll('-', '')}`,
      })),
    ],
    ...(route.body && { requestBody: { required: true, content: json(route.body, 'input') } }),
    responses: Object.fromEntries([...answers, ...failures]),
  })
}

/** The parameters of a query string (OpenAPI 3.1, "Parameter Object"). */
function parameters(query: z.ZodMiniObject) {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: required.includes(name),
    schema: schema as object,
  }))
}

const json = (schema: Schema, io: 'input' | 'output') => ({
  'application/json': { schema: z.toJSONSchema(schema, { io }) as object },
})
