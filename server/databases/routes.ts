import { Hono } from 'hono'
import { inScope } from '../contract/access/scope.ts'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import { databaseInput, databaseList } from '../contract/database.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerOf, type RequireRole, requireScope } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { DatabaseRegistry } from './registry.ts'

export interface DatabaseRoutesDeps {
  readonly databases: DatabaseRegistry
  readonly requireRole: RequireRole
  readonly sendList: SendList
}

/** Routes of `/_api/database`. */
export const databaseRoutes = ({ databases, requireRole, sendList }: DatabaseRoutesDeps) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List the databases of the scope of the caller',
        responses: { 200: databaseList },
      }),
      requireRole('viewer', { inMemory: true }),
      (c) => {
        const scope = c.get('principal')?.databases ?? null
        return sendList(
          c,
          databases
            .list()
            .values()
            .filter((name) => inScope(scope, name))
            .map((name) => ({ name })),
        )
      },
    )
    .post(
      '/',
      describe({
        summary: 'Create a database',
        body: databaseInput,
        responses: { 201: acknowledgement },
        failures: { 400: 'the name is not allowed', 409: 'the database already exists' },
      }),
      audited('database.create', (c) => c.req.valid('json')?.name),
      requireRole('operator'),
      jsonBody(databaseInput),
      async (c) => {
        await databases.create(c.req.valid('json').name, callerOf(c))
        return c.json(acknowledge(201), 201)
      },
    )
    .delete(
      '/:name',
      describe({
        summary: 'Drop a database',
        responses: { 200: acknowledgement },
        failures: {
          403: '_system cannot be dropped, and a limited caller can drop only databases of its scope',
          404: 'there is no such database',
        },
      }),
      audited('database.drop', (c) => c.req.param('name')),
      requireRole('operator'),
      async (c) => {
        const name = c.req.param('name')
        requireScope(c.get('principal'), name)
        await databases.drop(name, callerOf(c))
        return c.json(acknowledge(), 200)
      },
    )
