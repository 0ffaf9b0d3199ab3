import { Hono } from 'hono'
import type { AppEnv } from '../env.ts'
import type { RequireRole } from '../guards/require-role.ts'
import { API_JSON } from '../output/render-failure.ts'
import { describe } from './describe.ts'

/**
 * Routes of `/_api/openapi.json`.
 *
 * @param describeApi returns the description. Called once, since the routes are fixed while the
 * process runs.
 */
export function openApiRoutes(requireRole: RequireRole, describeApi: () => Promise<object>) {
  // Keep the bytes: encoding the text would take longer than the rest of the request.
  let description: Promise<Uint8Array<ArrayBuffer>> | undefined
  return new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'Get this OpenAPI description', responses: { 200: 'application/json' } }),
    requireRole('public'),
    async (c) => {
      description ??= describeApi().then((described) =>
        new TextEncoder().encode(JSON.stringify(described)),
      )
      return c.body(await description, 200, { 'Content-Type': API_JSON })
    },
  )
}
