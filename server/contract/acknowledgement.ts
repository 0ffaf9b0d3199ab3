import * as z from 'zod/mini'
import { violation } from './schema.ts'

/** Response to a successful change under `/_api` (docs/http-api.md, "Endpoints"). */
export const acknowledgement = z.object({
  result: z.literal(true),
  error: z.literal(false),
  code: z.int(),
})

export type Acknowledgement = z.infer<typeof acknowledgement>

const field = z
  .optional(z.string())
  .check(
    z.describe(
      'the rejected part: a JSON Pointer (RFC 6901) into the body, or the name of a query parameter or header',
    ),
  )

/** A part of a request that does not match the schema of the body or the query. */
const invalidPart = z.object({
  field,
  reason: z.string().check(z.describe('such as `missing` or `must not be empty`')),
})

export type InvalidPart = z.infer<typeof invalidPart>

/** Fields of an error that programs evaluate, beside its code. */
const details = {
  field,
  errors: z
    .optional(z.array(invalidPart))
    .check(
      z.describe('the first rejected parts of a body or query that does not match its schema'),
    ),
  systemCode: z
    .optional(z.string())
    .check(z.describe('the code of the operating system, such as EADDRINUSE')),
  rule: z
    .optional(z.string())
    .check(z.describe('the rule of the policy of the endpoint that rejected the request')),
}

/** Response to a failed request under `/_api` (docs/http-api.md, "Errors"). */
export const errorObject = z.object({
  error: z.literal(true),
  code: z.int().check(z.describe('the HTTP status')),
  errorNum: z.int(),
  errorMessage: z.string(),
  ...details,
})

export type ErrorObject = z.infer<typeof errorObject>

/** Response to any other failed request (docs/http-api.md, "Errors"). */
export const errorBody = z.object({
  id: z.string(),
  message: z.string(),
  ...details,
  violations: z
    .optional(z.array(violation))
    .check(z.describe('how the body violates the schema of its collection, or JSON Schema')),
  ids: z
    .optional(z.array(z.string()))
    .check(z.describe('the ids of documents whose creation was not confirmed')),
  stored: z
    .optional(z.int())
    .check(z.describe('the number of documents that an import stored before it failed')),
  fields: z
    .optional(z.array(z.string()))
    .check(z.describe('the fields of an index that would serve a query that reads too much')),
  index: z
    .optional(z.string())
    .check(z.describe('the unique index that already contains the values')),
  first: z
    .optional(z.string())
    .check(z.describe('the position after which the oldest kept change of a feed follows')),
  last: z.optional(z.string()).check(z.describe('the position of the last change of a feed')),
  document: z
    .optional(z.string())
    .check(z.describe('the id of the document that has these values')),
})

export type ErrorBody = z.infer<typeof errorBody>

/** Returns the response body of a successful change. */
export const acknowledge = (code: 200 | 201 = 200): Acknowledgement => ({
  result: true,
  error: false,
  code,
})
