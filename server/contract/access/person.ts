import * as z from 'zod/mini'
import { role } from './role.ts'

/** A person who has signed in at least once. `GET /_api/user` lists pending people first. */
export const person = z.object({
  id: z.string(),
  username: z.string(),
  name: z.nullable(z.string()),
  provider: z.string(),
  issuer: z.string().check(z.describe('the issuer or token endpoint that the id comes from')),
  role,
  created: z.string(),
  lastSignIn: z.nullable(z.string()),
  sessions: z.int().check(z.describe('open now')),
})

export const personList = z.array(person)

export type Person = z.infer<typeof person>

/** Body of `PATCH /_api/user/<id>`; the role `none` removes access. */
export const personChange = z.object({ role })
