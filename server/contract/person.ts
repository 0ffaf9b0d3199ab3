import * as z from 'zod/mini'
import { role } from './role.ts'

/** Somebody who has signed in once: rows of `GET /_api/user`, pending ones first. */
export const person = z.object({
  id: z.string(),
  username: z.string(),
  name: z.nullable(z.string()),
  provider: z.string(),
  issuer: z.string().check(z.describe('the issuer or token endpoint that vouches for the id')),
  role,
  created: z.string(),
  lastSignIn: z.nullable(z.string()),
  sessions: z.number().check(z.describe('open now')),
})

/** A list of {@link person}. */
export const personList = z.array(person)

/** {@link person} as a type. */
export type Person = z.infer<typeof person>

/** Body of `PATCH /_api/user/<id>`. */
export const personChange = z.object({ role })
