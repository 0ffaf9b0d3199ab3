import { expect, test } from 'vitest'
import type { Role } from '../../../server/contract/access/principal.ts'
import { validateSession } from './use-save-endpoint.ts'

const person = (id: string, role: Role, databases: string[] | null = null) => ({
  id,
  username: `github:${id}`,
  name: null,
  provider: 'github',
  role,
  databases,
})
const session = (id: string, role: Role, databases: string[] | null = null) => ({
  person: person(id, role, databases),
  by: 'session' as const,
  expires: null,
  idleExpires: null,
  endpoint: 'tcp://127.0.0.1:8529',
})
const me = person('1', 'operator')

test.each([
  [session('1', 'operator'), undefined],
  [session('1', 'admin'), undefined],
  [session('1', 'viewer'), 'you are now a viewer'],
  [session('1', 'admin', ['_system']), undefined],
  [session('1', 'admin', ['blog']), 'you are now an admin without access to _system'],
  [session('2', 'admin'), 'github:2 is now signed in'],
  [null, 'You are signed out.'],
])('with the session %j: %s', (now, why) => {
  const message = validateSession(me, now)
  if (why === undefined) expect(message).toBeUndefined()
  else expect(message).toContain(why)
})
