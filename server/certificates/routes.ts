import { type Context, Hono } from 'hono'
import { acknowledge, acknowledgement } from '../contract/acknowledgement.ts'
import {
  certificateInput,
  certificateList,
  certificateName,
  certificateRecord,
  newCertificate,
} from '../contract/certificate.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { audited } from '../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../http/guards/require-role.ts'
import { jsonBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { Certificates } from './certificates.ts'

export interface CertificateRoutesDeps {
  readonly certificates: Certificates
  readonly requireRole: RequireRole
  readonly sendList: SendList
}

/** Maximum size of a body, bytes, so that a certificate that is too large has its own message. */
const BODY_LIMIT = 2 * 1024 * 1024

const FAILURES = {
  409: 'an endpoint uses it, it comes from the command line, or there are too many',
  412: 'the certificate has another revision',
  422: 'the certificate cannot be used; errors has all reasons',
} as const

const nameOf = (c: Context<AppEnv>) => c.req.param('name') ?? ''

/** Routes of `/_api/certificate` (docs/http-api.md, "Certificates"). */
export function certificateRoutes({ certificates, requireRole, sendList }: CertificateRoutesDeps) {
  const read = async (name: string) => {
    const record = await certificates.get(name)
    return { record, headers: { ETag: `"${record.revision}"` } }
  }
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the certificates', responses: { 200: certificateList } }),
      requireRole('operator'),
      async (c) => sendList(c, await certificates.list()),
    )
    .post(
      '/',
      describe({
        summary: 'Add a certificate',
        body: newCertificate,
        responses: { 201: certificateRecord },
        failures: { ...FAILURES, 409: 'the certificate already exists, or there are too many' },
      }),
      audited('certificate.add', (c) => c.req.valid('json')?.name),
      requireRole('operator'),
      jsonBody(newCertificate, BODY_LIMIT),
      async (c) => {
        const { name, ...input } = c.req.valid('json')
        await certificates
          .set({ name, actor: callerOf(c), expected: 'none' }, input)
          .catch((error: unknown) => {
            if (!(error instanceof Failure && error.code === 'precondition-failed')) throw error
            throw new Failure('conflict', error.message, { field: '/name' })
          })
        const { record, headers } = await read(name)
        return c.json(record, 201, { ...headers, Location: `/_api/certificate/${name}` })
      },
    )
    .get(
      '/:name',
      describe({
        summary: 'Read a certificate, without its key',
        responses: { 200: certificateRecord },
        failures: { 404: 'there is no such certificate' },
      }),
      requireRole('operator'),
      async (c) => {
        const { record, headers } = await read(nameOf(c))
        return c.json(record, 200, headers)
      },
    )
    .put(
      '/:name',
      describe({
        summary: 'Add or replace a certificate; one of the kind local is issued again',
        conditions: ['If-Match', 'If-None-Match'],
        body: certificateInput,
        responses: { 200: certificateRecord },
        failures: FAILURES,
      }),
      audited('certificate.replace', nameOf),
      requireRole('operator'),
      jsonBody(certificateInput, BODY_LIMIT),
      async (c) => {
        const name = nameOf(c)
        const parsed = certificateName.safeParse(name)
        if (!parsed.success) {
          const reason = parsed.error.issues[0]?.message
          throw new Failure('bad-parameter', `The name ${reason}.`, { field: 'name' })
        }
        const { match, noneMatch } = conditionsOf(c)
        const expected = noneMatch === '*' ? 'none' : match
        await certificates.set({ name, actor: callerOf(c), expected }, c.req.valid('json'))
        const { record, headers } = await read(name)
        return c.json(record, 200, headers)
      },
    )
    .delete(
      '/:name',
      describe({
        summary: 'Delete a certificate that no endpoint uses',
        conditions: ['If-Match'],
        responses: { 200: acknowledgement },
        failures: { ...FAILURES, 404: 'there is no such certificate' },
      }),
      audited('certificate.remove', nameOf),
      requireRole('operator'),
      async (c) => {
        const { match: expected } = conditionsOf(c)
        await certificates.remove({ name: nameOf(c), actor: callerOf(c), expected })
        return c.json(acknowledge(), 200)
      },
    )
}

/** `/_api/certificate-root`: the certificate of the local authority. */
export const certificateRootRoutes = ({
  certificates,
  requireRole,
}: Pick<CertificateRoutesDeps, 'certificates' | 'requireRole'>) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'Download the certificate of the local authority, for clients to trust',
      responses: { 200: 'application/x-pem-file' },
      failures: { 404: 'no certificate of the kind local was issued yet' },
    }),
    requireRole('operator'),
    async (c) =>
      c.body(await certificates.root(), 200, {
        'Content-Type': 'application/x-pem-file',
        'Content-Disposition': 'attachment; filename="gatehouse-root.crt"',
      }),
  )
