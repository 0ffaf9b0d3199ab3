import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { START } from '../audit/record.ts'
import { OPERATOR } from '../contract/access/principal.ts'
import { USE_RECORD_INTERVAL } from '../contract/access/session.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { type Access, createAccess } from './access.ts'
import { createLastUseRecorder, FLUSH_DELAY, MAX_WAITING } from './last-use-recorder.ts'

forEachEngine((engine) => {
  let store: Store

  beforeEach(async () => {
    store = await engine.open()
  })

  describe('recording the use of credentials', () => {
    let access: Access
    let time: number
    let token: string
    let session: string

    beforeEach(async () => {
      time = Date.parse('2026-11-20T12:00:00Z')
      access = createAccess({
        store,
        vault: createVault(randomBytes(32)),
        record: async () => {},
        admins: [],
        now: () => time,
      })
      const from = { address: null, userAgent: null }
      session = await access.signIn(
        { ...OPERATOR, name: 'o', accessToken: 'a', operatorKey: null },
        from,
      )
      const [person] = await access.people()
      const owner = { personId: person?.id ?? '', role: 'admin' } as const
      token = (await access.createToken(owner, { name: 'a', role: 'viewer' }, START)).token
      time += USE_RECORD_INTERVAL
    })

    it('does not wait for a transaction that holds the write lock', async () => {
      const outside = AsyncLocalStorage.snapshot()
      await store.transaction(async (trx) => {
        await trx.updateTable('sessions').set({ last_seen_at: 1 }).execute()
        await trx.updateTable('tokens').set({ last_used_at: 1 }).execute()
        const authenticate = (credentials: { authorization?: string; session?: string }) =>
          outside(() =>
            access.authenticate({ authorization: undefined, session: undefined, ...credentials }),
          )
        expect(await authenticate({ session })).toMatchObject({ username: 'local:operator' })
        expect(await authenticate({ authorization: `Bearer ${token}` })).toMatchObject({
          username: 'local:operator',
          by: 'token',
        })
      })
      await access.stop()
      const { last_seen_at } = await store.db
        .selectFrom('sessions')
        .select('last_seen_at')
        .executeTakeFirstOrThrow()
      const { last_used_at } = await store.db
        .selectFrom('tokens')
        .select('last_used_at')
        .executeTakeFirstOrThrow()
      expect([last_seen_at, last_used_at]).toEqual([time, time])
    })

    it('stores the last use when the server stops', async () => {
      await access.authenticate({ authorization: `Bearer ${token}`, session: undefined })
      await access.stop()
      const [row] = await store.db.selectFrom('tokens').select('last_used_at').execute()
      expect(row?.last_used_at).toBe(time)
    })
  })

  it('stores a use shortly after it was recorded', async () => {
    await insertPerson(store)
    await insertToken(store, 'a', null)
    const uses = createLastUseRecorder(store, () => {}, 1)
    uses.token('a', 7)
    await expect.poll(() => usesOf(store)).toEqual([7])
    await uses.stop()
    expect(FLUSH_DELAY).toBeLessThanOrEqual(1_000)
  })

  it('never replaces a later use that another node has stored', async () => {
    await insertPerson(store)
    await insertToken(store, 'a', 9)
    await insertToken(store, 'b', 3)
    const uses = createLastUseRecorder(store, () => {})
    for (const id of ['a', 'b', 'revoked']) uses.token(id, 7)
    await uses.flush()
    expect(await usesOf(store)).toEqual([9, 7])
  })

  it('stores more uses than fit into one statement', async () => {
    await insertPerson(store)
    await store.db
      .insertInto('tokens')
      .values(Array.from({ length: 1_001 }, (_, n) => tokenRow(`${10_000 + n}`, null)))
      .execute()
    const uses = createLastUseRecorder(store, () => {})
    for (let n = 1; n <= 1_001; n++) uses.token(`${9_999 + n}`, n)
    await uses.flush()
    expect(await usesOf(store)).toEqual(Array.from({ length: 1_001 }, (_, n) => n + 1))
  })

  it('reports a failed store once, and retries', async () => {
    await insertPerson(store)
    await insertToken(store, 'a', null)
    const errors: unknown[] = []
    const uses = createLastUseRecorder(store, (error) => errors.push(error))
    const rename = (from: string, to: string) =>
      store.db.schema.alterTable(from).renameTo(to).execute()
    await rename('tokens', 'elsewhere')
    uses.token('a', 7)
    await uses.flush()
    uses.session('s', 7)
    await uses.flush()
    expect(errors).toHaveLength(1)
    await rename('elsewhere', 'tokens')
    await uses.flush()
    expect([await usesOf(store), uses.sessionUse('s')]).toEqual([[7], undefined])
    await rename('tokens', 'elsewhere')
    uses.token('a', 8)
    await uses.flush()
    expect(errors).toHaveLength(2)
    await rename('elsewhere', 'tokens')
  })

  it('drops the oldest use when too many wait', async () => {
    const uses = createLastUseRecorder(store, () => {})
    for (let n = 0; n <= MAX_WAITING; n++) uses.session(`${n}`, n)
    const kept = ['0', '1', `${MAX_WAITING}`].map((hash) => uses.sessionUse(hash))
    expect(kept).toEqual([undefined, 1, MAX_WAITING])
    await uses.stop()
  })
})

const tokenRow = (id: string, last_used_at: number | null) => ({
  id,
  name: id,
  prefix: '',
  hash: id,
  owner_id: 'p',
  role: 'viewer',
  databases: null,
  created_at: 0,
  expires_at: null,
  last_used_at,
})

async function insertPerson({ db }: Store): Promise<void> {
  await db
    .insertInto('people')
    .values({
      id: 'p',
      provider: 'p',
      issuer: 'p',
      subject: 'p',
      username: 'p',
      name: null,
      role: 'viewer',
      created_at: 0,
      last_sign_in_at: null,
      access_token: null,
    })
    .execute()
}

const insertToken = ({ db }: Store, id: string, used: number | null) =>
  db.insertInto('tokens').values(tokenRow(id, used)).execute()

const usesOf = async ({ db }: Store) =>
  (await db.selectFrom('tokens').select('last_used_at').orderBy('id').execute()).map(
    ({ last_used_at }) => last_used_at,
  )
