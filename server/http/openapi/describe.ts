import type { Input, MiddlewareHandler } from 'hono'
import type { BlankInput } from 'hono/types'
import { uniqueSymbol } from 'hono-openapi'
import * as z from 'zod/mini'
import { errorObject } from '../../contract/acknowledgement.ts'
import type { AppEnv } from '../env.ts'
import type { Operation } from './openapi-objects.ts'

type Schema = z.ZodMiniType

/** The description of a route in `/_api/openapi.json`. */
export interface RouteDescription {
  /** One sentence that says what the route does. */
  readonly summary: string
  /** The schema that validates the query string. */
  readonly query?: z.ZodMiniObject
  /** The conditional headers that the route reads. */
  readonly conditions?: readonly ('If-Match' | 'If-None-Match')[]
  /** The schema that validates the request body. */
  readonly body?: Schema
  /** Successful responses by status: a schema, or the media type of a response that is not JSON. */
  readonly responses: Readonly<Record<number, Schema | `${string}/${string}`>>
  /** Whether arrays are sent as lines to clients that accept `application/x-ndjson`. */
  readonly orLines?: true
  /** Error statuses and the conditions under which they occur. */
  readonly failures?: Readonly<Record<number, string>>
}

/**
 * Describes a route for `/_api/openapi.json`, from the schemas that validate its requests. Every
 * route under `/_api` has it as its first handler; `app.test.ts` fails for a route without one.
 */
export const describe = (route: RouteDescription): MiddlewareHandler =>
  Object.assign<MiddlewareHandler, object>((_, next) => next(), {
    [uniqueSymbol]: {
      // Converted when the document is generated: a start would take 15 ms longer.
      get spec() {
        return operationOf(route)
      },
    },
  })

function operationOf(route: RouteDescription) {
  const responses = Object.entries(route.responses).map(([status, what]) => [
    status,
    {
      description: 'Done',
      content: {
        ...(typeof what === 'string' ? { [what]: {} } : json(what, 'output')),
        ...(route.orLines && { 'application/x-ndjson': { schema: { type: 'string' } } }),
      },
    },
  ])
  const failures = Object.entries(route.failures ?? {}).map(([status, when]) => [
    status,
    { description: when, content: json(errorObject, 'output') },
  ])
  return {
    summary: route.summary,
    parameters: [
      ...(route.query ? parameters(route.query) : []),
      ...(route.conditions ?? []).map((name) => ({
        $ref: `#/components/parameters/${name.replaceAll('-', '')}`,
      })),
    ],
    ...(route.body && { requestBody: { required: true, content: json(route.body, 'input') } }),
    responses: Object.fromEntries([...responses, ...failures]),
  }
}

/**
 * Describes a route by an OpenAPI operation, attached to a handler of the route. Unlike
 * {@link describe} it adds no handler, which would slow down every read of a document.
 *
 * @typeParam I the input of the route, for typed clients.
 */
export const described = <I extends Input = BlankInput>(
  operation: Operation,
  handler: MiddlewareHandler<AppEnv>,
): MiddlewareHandler<AppEnv, string, I> =>
  // A copy, because other routes may have the same handler.
  Object.assign<MiddlewareHandler<AppEnv>, object, object>((c, next) => handler(c, next), handler, {
    [uniqueSymbol]: { spec: operation },
  })

/** Returns the Parameter Objects of a query string (OpenAPI 3.1, "Parameter Object"). */
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
