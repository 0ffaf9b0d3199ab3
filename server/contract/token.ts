import * as z from 'zod/mini'
import { role } from './role.ts'

/** No line breaks and nothing that turns the direction of the text around it: a list would lie. */
const PLAIN = /^[^\p{Cc}\p{Bidi_Control}\u2028\u2029]*$/u

/** The most databases that the scope of a token names. */
export const TOKEN_DATABASES = 1_000

/** Body of `POST /_api/token`. */
export const tokenInput = z.object({
  name: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(64),
      z.regex(PLAIN, 'must be of one line, without control characters'),
    ),
  role: z.enum(['viewer', 'operator', 'admin']),
  databases: z.optional(
    z
      .nullable(z.array(z.string()).check(z.maxLength(TOKEN_DATABASES, 'at most 1,000 names')))
      .check(z.describe('its scope; null or missing: every database')),
  ),
  expires: z.optional(z.nullable(z.string().check(z.describe('ISO 8601; null or missing: never')))),
})

/** {@link tokenInput} as a type. */
export type TokenInput = z.infer<typeof tokenInput>

/** A token as it is listed: all but the secret, of which only its beginning is kept readable. */
export const tokenInfo = z.object({
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

/** Answer of `GET /_api/token`: one's own; an admin's list holds everybody's. */
export const tokenList = z.array(tokenInfo)

/** {@link tokenInfo} as a type. */
export type TokenInfo = z.infer<typeof tokenInfo>

/** Answer of `POST /_api/token`, 201: the only time that the secret is shown. */
export const createdToken = z.object({ token: z.string(), info: tokenInfo })
