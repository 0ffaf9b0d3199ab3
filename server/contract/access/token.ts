import * as z from 'zod/mini'
import { isoTime } from '../iso-time.ts'
import { role } from './principal.ts'
import { scopeInput } from './scope.ts'

/** Rejects line breaks and bidirectional controls, which could make a list misleading. */
export const PLAIN = /^[^\p{Cc}\p{Bidi_Control}\u2028\u2029]*$/u

/** How a request sends a token, for responses of 401. */
export const TOKEN_HEADERS =
  '"Authorization: Bearer TOKEN", or "Authorization: Basic …" with the token as the user name'

/** Maximum number of tokens per person, including expired ones. */
export const TOKENS_PER_PERSON = 1_000

/** Maximum size of the lists of databases of all tokens of a person together, as JSON, bytes. */
export const TOKEN_SCOPES_BYTES = 1024 * 1024

/** Query of `GET /_api/token`. */
export const tokenQuery = z.object({
  everybody: z.optional(
    z
      .enum(['true', 'false'])
      .check(z.describe('whether to list the tokens of all people, which requires the role admin')),
  ),
})

/** Body of `POST /_api/token`. */
export const tokenInput = z.object({
  name: z
    .string()
    .check(
      z.regex(/\S/, 'must not be empty'),
      z.maxLength(64, 'at most 64 characters'),
      z.regex(PLAIN, 'must be a single line without control and direction characters'),
    ),
  role: z.enum(['viewer', 'editor', 'operator', 'admin'], 'viewer, editor, operator or admin'),
  databases: z.optional(
    scopeInput.check(z.describe('databases that it gives access to; null or omitted for all')),
  ),
  expires: z.optional(
    z.nullable(
      isoTime.check(
        z.describe('ISO 8601; a date means midnight UTC; null or omitted if it never expires'),
      ),
    ),
  ),
})

export type TokenInput = z.infer<typeof tokenInput>

/** A token in a list. Only the beginning of its secret is stored in readable form. */
const tokenInfo = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  owner: z.string().check(z.describe('the username of its owner')),
  ownerId: z.string(),
  role,
  databases: z.nullable(z.array(z.string())),
  created: z.string(),
  expires: z.nullable(z.string()),
  lastUsed: z.nullable(z.string()),
})

/** Response of `GET /_api/token`: the caller's tokens; for an admin, everyone's. */
export const tokenList = z.array(tokenInfo)

export type TokenInfo = z.infer<typeof tokenInfo>

/** Response of `POST /_api/token`, 201. The secret is shown only here. */
export const createdToken = z.object({ token: z.string(), info: tokenInfo })
