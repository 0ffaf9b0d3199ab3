import type { Operation } from '../http/openapi/openapi-objects.ts'

const ref = (path: string) => ({ $ref: `#/components/${path}` })

const state = (description: string) => ({
  description,
  headers: {
    Link: {
      description: 'The URL of the next documents of a listing (RFC 8288), if there are any.',
      schema: { type: 'string' as const },
    },
  },
  content: { 'application/json': { schema: ref('schemas/Job') } },
})

/** The operations of `/_job/<id>`. */
export const job = {
  get: {
    summary: 'Get a job and its progress',
    parameters: [ref('parameters/Limit'), ref('parameters/After')],
    responses: {
      '200': state('The job has ended.'),
      '206': state('The job is running.'),
      '404': ref('responses/NotFound'),
      '422': ref('responses/QueryTooExpensive'),
    },
  },
  delete: {
    summary: 'Cancel a job',
    description:
      'What the job has stored, changed or deleted stays. No effect on a job that has ended.',
    parameters: [ref('parameters/Prefer')],
    responses: {
      '200': {
        description: 'The job, without the results of a listing.',
        content: { 'application/json': { schema: ref('schemas/Job') } },
      },
      '204': {
        description: 'The job has ended; for Prefer: return=minimal.',
        headers: {
          'Preference-Applied': {
            description: 'return=minimal',
            schema: { type: 'string' as const },
          },
        },
      },
      '404': ref('responses/NotFound'),
    },
  },
} satisfies Record<string, Operation>
