import { beforeEach, describe, expect, it } from 'vitest'
import { Failure } from '../failure.ts'
import { forEachEngine } from '../storage/each-engine.testing.ts'
import type { Store } from '../storage/open.ts'
import { createVault } from '../storage/vault.ts'
import type { ProviderTokens } from './provider-tokens.ts'
import { AHEAD, refreshTokens } from './refresh-tokens.ts'
import { beginSession, IDLE } from './sessions.ts'

const vault = createVault(new Uint8Array(32))
const HOUR = 60 * 60 * 1000

forEachEngine((engine) => {
  let store: Store
  let time: number
  let asked: string[]
  let answer: () => ProviderTokens

  beforeEach(async () => {
    store = await engine.open()
    time = Date.parse('2026-11-20T12:00:00Z')
    asked = []
    answer = () => ({ access: 'access-2', refresh: 'refresh-2', expires: time + HOUR })
  })

  const signIn = (refresh: string | null) =>
    beginSession(
      { store, vault, record: async () => {}, admins: [], now: () => time },
      {
        provider: 'oidc',
        issuer: 'a',
        subject: '1',
        name: null,
        tokens: { access: 'access-1', refresh, expires: time + HOUR },
        operatorKey: null,
      },
      { address: null, userAgent: null },
    )
  const run = () =>
    refreshTokens({
      store,
      vault,
      now: () => time,
      async refresh(provider, token) {
        asked.push(`${provider} ${token}`)
        return answer()
      },
    })
  const kept = async () => {
    const session = await store.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow()
    const open = (sealed: string | null, place: string) => sealed && vault.open(sealed, place)
    return [
      open(session.access_token, `sessions/${session.id}/access`),
      open(session.refresh_token, `sessions/${session.id}/refresh`),
      session.token_expires_at,
    ]
  }

  describe('refreshTokens', () => {
    it('renews tokens that are about to end, for the session and the person', async () => {
      await signIn('refresh-1')
      expect(await run()).toBe(0)
      time += HOUR - AHEAD + 1
      expect(await run()).toBe(1)
      expect(asked).toEqual(['oidc refresh-1'])
      expect(await kept()).toEqual(['access-2', 'refresh-2', time + HOUR])
      const person = await store.db.selectFrom('people').selectAll().executeTakeFirstOrThrow()
      expect(vault.open(person.access_token ?? '', `people/${person.id}/access`)).toBe('access-2')
      expect(await run()).toBe(0)
    })

    it('keeps the refresh token where the provider gives no new one', async () => {
      await signIn('refresh-1')
      time += HOUR
      answer = () => ({ access: 'access-2', refresh: null, expires: null })
      await run()
      expect(await kept()).toEqual(['access-2', 'refresh-1', null])
    })

    it('asks once, however many nodes look at the same time', async () => {
      await signIn('refresh-1')
      time += HOUR
      await Promise.all([run(), run(), run()])
      expect(asked).toHaveLength(1)
    })

    it('asks again later where the provider is away, and not before', async () => {
      await signIn('refresh-1')
      time += HOUR
      answer = () => {
        throw new Failure('unavailable', 'away')
      }
      expect(await run()).toBe(0)
      expect(await run()).toBe(0)
      expect(asked).toHaveLength(1)
      time += 5 * 60_000
      answer = () => ({ access: 'access-2', refresh: 'refresh-2', expires: time + HOUR })
      expect(await run()).toBe(1)
      expect((await kept())[0]).toBe('access-2')
    })

    it('gives the tokens up where the provider says no, and leaves the session', async () => {
      await signIn('refresh-1')
      time += HOUR
      answer = () => {
        throw new Failure('bad-parameter', 'invalid_grant')
      }
      await run()
      expect(await kept()).toEqual([null, null, null])
      time += HOUR
      await run()
      expect(asked).toHaveLength(1)
    })

    it('leaves sessions that are not used, and those without a refresh token', async () => {
      await signIn('refresh-1')
      time += IDLE + 1
      await signIn(null)
      time += HOUR
      expect(await run()).toBe(0)
      expect(asked).toEqual([])
    })
  })
})
