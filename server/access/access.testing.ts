import { randomBytes } from 'node:crypto'
import { beforeEach } from 'vitest'
import { OPERATOR } from '../contract/access/principal.ts'
import type { TokenInfo } from '../contract/access/token.ts'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import type { Store } from '../storage/store.ts'
import type { TestEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { type Access, createAccess } from './access.ts'
import type { Credentials } from './authenticate.ts'
import type { SignIn } from './sessions.ts'

export const HOUR = 60 * 60 * 1000
export const actor: Actor = { name: 'local:operator', by: 'session', address: '127.0.0.1' }
export const from = { address: '127.0.0.1', userAgent: 'a browser' }
export const operator: SignIn = {
  ...OPERATOR,
  name: 'Operator',
  accessToken: 'provider-token-o',
  operatorKey: 'fingerprint',
}
export const github = (subject: string, over: Partial<SignIn> = {}): SignIn => ({
  provider: 'github',
  issuer: 'https://github.example/token',
  subject,
  name: `Person ${subject}`,
  accessToken: `provider-token-${subject}`,
  operatorKey: null,
  ...over,
})

/** People, sessions and tokens in a store of their own, with clocks that a test sets. */
export class AccessFixture {
  store!: Store
  access!: Access
  /** The time, ms since 1970. */
  time = 0
  /** The monotonic clock, ms. */
  passed = 0
  /** The recorded audit entries. */
  entries: AuditEntry[] = []

  /** Returns another instance on the same store, as after a restart. */
  open(admins: string[] = [], operatorKey?: () => string): Access {
    return createAccess({
      store: this.store,
      vault: createVault(randomBytes(32)),
      record: async (_trx, ...entries) => {
        this.entries.push(...entries)
      },
      admins,
      now: () => this.time,
      steady: () => this.passed,
      operatorKey,
    })
  }

  async authenticate(credentials: Credentials) {
    return this.access.authenticate(credentials)
  }

  bySession(session: string) {
    return this.authenticate({ authorization: undefined, session })
  }

  byToken(token: string) {
    return this.authenticate({ authorization: `Bearer ${token}`, session: undefined })
  }

  async tokens(owner: string | 'everybody'): Promise<TokenInfo[]> {
    const all: TokenInfo[] = []
    for await (const token of this.access.tokens(owner)) all.push(token)
    return all
  }

  async idOf(username: string): Promise<string> {
    return (await this.access.people()).find((each) => each.username === username)?.id ?? ''
  }

  /** Signs in a person from GitHub whom the operator makes an admin. */
  async signInAdmin(subject: string): Promise<void> {
    await this.access.signIn(github(subject), from)
    await this.access.changeRole(await this.idOf(`github:${subject}`), { role: 'admin' }, actor)
  }
}

/** Returns an {@link AccessFixture} whose state is new for each test. */
export function createAccessFixture(engine: TestEngine): AccessFixture {
  const fixture = new AccessFixture()
  beforeEach(async () => {
    fixture.store = await engine.open()
    fixture.time = Date.parse('2026-11-20T12:00:00Z')
    fixture.passed = 0
    fixture.entries = []
    fixture.access = fixture.open()
  })
  return fixture
}
