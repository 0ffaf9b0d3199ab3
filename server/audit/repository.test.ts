import { expect, test, vi } from 'vitest'
import type { AuditEntry, AuditPage, AuditRow } from '../contract/audit.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { entry, recordAll } from './audit.testing.ts'
import type { AuditSearch, SearchBounds } from './find-rows.ts'
import { createRecorder } from './record.ts'
import { readAuditPage } from './repository.ts'

const DAY = 24 * 60 * 60 * 1000
const START = Date.parse('2026-01-01T12:00:00Z')
const readPage = async (store: Store, query: AuditSearch, bounds?: SearchBounds) => {
  const { rows, next } = await readAuditPage(store, query, () => undefined, bounds)
  return { rows: rows.map((row): AuditRow => JSON.parse(row)), next }
}

forEachEngine((engine) => {
  /** Writes five rows, one day apart, and the person `github:100`, Zoë Ada. */
  async function written(): Promise<Store> {
    const store = await engine.open()
    const by = (name: string) => ({ actor: { name, by: 'session', address: null } as const })
    const person = { provider: 'github', issuer: 'x', subject: '100', role: 'viewer' }
    await store.db
      .insertInto('people')
      .values({ id: '1', ...person, username: 'github:100', name: 'Zoë Ada', created_at: 0 })
      .execute()
    let day = 0
    await recordAll(
      store,
      [
        entry({ ...by('github:100'), action: 'endpoint.add', after: { databases: ['a'] } }),
        entry({ ...by('GitHub:2'), action: 'endpoint.map', target: 'shop' }),
        entry({ ...by('local:operator'), action: 'person.role' }),
        entry({ ...by('my_github:1'), action: 'database.create', outcome: 'refused' }),
        entry({
          actor: { name: 'github:7', by: 'token', token: 'CI-deploy', address: null },
          action: 'session.end',
          target: 'github:100',
        }),
      ],
      createRecorder(() => START + day++ * DAY),
    )
    return store
  }
  const seqs = async (store: Store, query: AuditSearch) =>
    (await readPage(store, query)).rows.map(({ seq }) => seq)

  test('returns each row as it was recorded', async () => {
    const { rows, next } = await readPage(await written(), {})
    expect(next).toBeNull()
    expect(rows.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1])
    expect(rows[0]).toMatchObject({ token: 'CI-deploy', actorName: null, targetName: 'Zoë Ada' })
    expect(rows.at(-1)).toEqual({
      seq: 1,
      at: '2026-01-01T12:00:00.000Z',
      actor: 'github:100',
      actorName: 'Zoë Ada',
      by: 'session',
      token: null,
      address: null,
      action: 'endpoint.add',
      target: 'blog',
      targetName: null,
      outcome: 'done',
      before: null,
      after: { databases: ['a'] },
      change: null,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test.each<[string, AuditSearch, number[]]>([
    ['a part of the actor', { who: 'github:1' }, [4, 1]],
    ['an actor in either case', { who: 'GITHUB:2' }, [2]],
    ['a pattern, taken literally', { who: '%github' }, []],
    ['a part of the name of a person', { who: 'ada' }, [1]],
    ['a part of the name of a token', { who: 'I-DEP' }, [5]],
    ['a text of an actor and a token', { who: 'i' }, [5, 4, 2, 1]],
    ['a name that nothing has', { who: 'nobody' }, []],
    ['a rejection', { outcome: 'refused' }, [4]],
    ['a success', { outcome: 'done', what: 'endpoint' }, [2, 1]],
    ['an action', { what: 'endpoint.map' }, [2]],
    ['a noun', { what: 'endpoint' }, [2, 1]],
    ['a noun without rows', { what: 'token' }, []],
    ['a target', { which: 'shop' }, [2]],
    ['a part of a target, without result', { which: 'sho' }, []],
    ['a start time', { from: '2026-01-02T12:00:00Z' }, [5, 4, 3, 2]],
    ['an end time', { to: '2026-01-02T12:00:00Z' }, [1]],
    ['a time in another zone', { to: '2026-01-02T13:00:00.001+01:00' }, [2, 1]],
    ['days', { from: '2026-01-02', to: '2026-01-04' }, [3, 2]],
    ['several parameters', { who: 'github', what: 'endpoint', from: '2026-01-02', before: 3 }, [2]],
  ])('finds rows by %s', async (_what, query, found) => {
    expect(await seqs(await written(), query)).toEqual(found)
  })

  test('pages through rows without shifts from new rows', async () => {
    const store = await written()
    const first = await readPage(store, { limit: 2 })
    expect(first).toMatchObject({ rows: [{ seq: 5 }, { seq: 4 }], next: 4 })
    await recordAll(store, [entry()])
    const second = await readPage(store, { limit: 2, before: 3 })
    expect(second).toMatchObject({ rows: [{ seq: 2 }, { seq: 1 }], next: null })
  })

  test.each<[string, AuditSearch, number[][]]>([
    ['no index', { to: '2026-01-02T12:00:00Z' }, [[], [1], []]],
    ['the index of actors', { who: 'github:1' }, [[4], [1], []]],
    ['the index of actions', { what: 'endpoint', who: 'github:1' }, [[], [1], []]],
    ['the index of targets', { which: 'blog', who: 'github:1' }, [[4], [], [1], []]],
  ])(
    'scans a limited number of rows per page and continues with the next: %s',
    async (_, query, found) => {
      const store = await written()
      const pages: number[][] = []
      let next: number | null = 5
      while (next !== null) {
        const page: AuditPage = await readPage(
          store,
          { ...query, before: next },
          {
            rows: 1,
            lookups: 1,
          },
        )
        pages.push(page.rows.map(({ seq }) => seq))
        next = page.next
      }
      expect(pages).toEqual(found)
    },
  )

  test('finds the rows of a scope, in pages of a limited search', async () => {
    const store = await engine.open()
    const mapping = (...databases: string[]) => ({ databases })
    const at = (action: AuditEntry['action'], before: unknown, after: unknown, more = {}) =>
      entry({ action, target: 'tcp://127.0.0.1:1', before, after, ...more })
    const policy = { note: 'a nul \0, and a list: {"databases":["shop"]}' }
    await recordAll(store, [
      at('endpoint.add', null, mapping('blog')),
      at('endpoint.map', mapping('blog'), mapping('blog', 'shop')),
      at('endpoint.map', mapping('shop'), mapping()),
      at('endpoint.remove', { ...mapping('blog'), policy }, null),
      at('endpoint.add', null, { refused: 'conflict' }, { outcome: 'refused' }),
      at('policy.set', null, { policy }),
      entry({ action: 'index.create', target: 'blog/articles/by-author' }),
      entry({ action: 'schema.set', target: 'blogs/articles' }),
      entry({ action: 'token.create', target: 'blog' }),
      entry(),
    ])
    const scope = ['news', 'blog']
    expect(await seqs(store, { scope })).toEqual([10, 7, 4, 1])
    expect(await seqs(store, { scope, what: 'endpoint' })).toEqual([4, 1])
    expect(await seqs(store, { scope, who: 'github:1', which: 'blog' })).toEqual([10])
    expect(await readPage(store, { scope, limit: 2 })).toMatchObject({ next: 7 })
    const bounds = { rows: 2, lookups: 2 }
    const first = await readPage(store, { scope }, bounds)
    expect(first).toMatchObject({ rows: [{ seq: 10 }, { seq: 7 }], next: 5 })
    const second = await readPage(store, { scope, before: 5 }, bounds)
    expect(second).toMatchObject({ rows: [{ seq: 4 }, { seq: 1 }] })
  })

  test('copies what was changed without parsing it', async () => {
    const store = await engine.open()
    const after = { schema: Array.from({ length: 100 }, () => ({ 'a"': [] })) }
    await recordAll(store, [entry({ after })])
    const parse = vi.spyOn(JSON, 'parse')
    try {
      const { rows } = await readAuditPage(store, {}, () => undefined)
      expect(parse.mock.calls.filter(([text]) => text.length > 100)).toEqual([])
      expect(rows).toEqual([expect.stringContaining(`"after":${JSON.stringify(after)}`)])
    } finally {
      parse.mockRestore()
    }
  })

  test('ends a page before its rows exceed 4 MiB', async () => {
    const store = await engine.open()
    const large = entry({ after: 'x'.repeat(3 * 2 ** 20) })
    await recordAll(store, [entry(), large, large])
    expect(await readPage(store, {})).toMatchObject({ rows: [{ seq: 3 }], next: 3 })
    expect(await readPage(store, { before: 3 })).toMatchObject({
      rows: [{ seq: 2 }, { seq: 1 }],
      next: null,
    })
  })

  test('reserves memory for its rows before it reads them', async () => {
    const store = await engine.open()
    const bytes = 2 ** 20
    await recordAll(store, [entry({ after: 'x'.repeat(bytes) }), entry()])
    const reserved: number[] = []
    await readAuditPage(store, {}, async (size) => void reserved.push(size))
    expect(reserved).toEqual([
      expect.toSatisfy((size: number) => size > bytes && size < 1.1 * bytes),
    ])
    const full = new Failure('unavailable', 'The budget is exhausted.')
    const rejecting = () => Promise.reject(full)
    await expect(readAuditPage(store, {}, rejecting)).rejects.toBe(full)
    expect(await readAuditPage(store, { who: 'nobody' }, rejecting)).toMatchObject({
      rows: [],
    })
  })

  test('finds values longer than their index', async () => {
    const store = await engine.open()
    const target = 'ü'.repeat(1_024)
    const actor = { name: `github:${'Ä'.repeat(900)}`, by: 'session', address: null } as const
    await recordAll(store, [entry({ target, actor }), entry({ target: target.slice(1), actor })])
    expect(await seqs(store, { which: target })).toEqual([1])
    expect(await seqs(store, { who: actor.name.slice(0, 256) })).toEqual([2, 1])
  })

  test('returns 50 rows by default', async () => {
    const store = await engine.open()
    await recordAll(
      store,
      Array.from({ length: 51 }, () => entry()),
    )
    const page = await readPage(store, {})
    expect([page.rows.length, page.next]).toEqual([50, 2])
    expect((await readPage(store, { limit: 500 })).rows).toHaveLength(51)
  })
})
