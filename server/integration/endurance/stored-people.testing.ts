import { randomUUID } from 'node:crypto'
import type { Role } from '../../contract/access/principal.ts'
import { createSecret, hashSecret } from '../../secret.ts'
import { instanceId } from '../../start.ts'
import type { Store } from '../../storage/store.ts'
import { CONSOLE_HEADERS } from '../../test-support/operator-session.testing.ts'

/** Stores a person who has signed in with GitHub. Returns their id. */
export async function storePerson({ db }: Store, subject: string, role: Role): Promise<string> {
  const id = randomUUID()
  const identity = { provider: 'github', issuer: 'https://github.test', subject }
  await db
    .insertInto('people')
    .values({ id, ...identity, username: `github:${subject}`, role, created_at: Date.now() })
    .execute()
  return id
}

/** Stores a session of a person. Returns its id, and the headers of requests from the console. */
export async function storeSession(store: Store, personId: string) {
  const secret = createSecret()
  const id = randomUUID()
  const now = Date.now()
  const times = { created_at: now, last_seen_at: now, expires_at: now + 24 * 3_600_000 }
  await store.db
    .insertInto('sessions')
    .values({ id, hash: hashSecret(secret), person_id: personId, ...times })
    .execute()
  const cookie = `gatehouse_${await instanceId(store)}=${secret}`
  return { id, headers: { Cookie: cookie, ...CONSOLE_HEADERS } }
}
