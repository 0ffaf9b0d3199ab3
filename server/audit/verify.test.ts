import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { entry, recordAll } from './audit.testing.ts'
import { createRecorder, rowHash } from './record.ts'
import { type KnownRow, verifyChain } from './verify.ts'

const ROWS = 12

forEachEngine((engine) => {
  async function written(rows = ROWS): Promise<{ store: Store; hashes: string[] }> {
    const store = await engine.open()
    await recordAll(
      store,
      Array.from({ length: rows }, (_, at) => entry({ target: `d${at + 1}` })),
    )
    const stored = await store.db.selectFrom('audit').select('hash').orderBy('seq').execute()
    return { store, hashes: stored.map(({ hash }) => hash) }
  }
  const run = (store: Store, statement: string) => sql.raw(statement).execute(store.db)
  const insert = (seq: number | string) =>
    `insert into audit (seq, at, actor, by, action, target, outcome, before, after, hash)
     select ${seq}, at, actor, by, action, target, outcome, before, after, hash
     from audit where seq = 7`

  test('counts valid rows and returns the last hash', async () => {
    const { store, hashes } = await written()
    expect(await verifyChain(store)).toEqual({ intact: true, seq: ROWS, hash: hashes.at(-1) })
  })

  test('reads a log longer than a page', async () => {
    const store = await engine.open()
    const record = createRecorder()
    await store.change(async (trx) => {
      for (let row = 0; row < 1_001; row++) await record(trx, entry())
    })
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 1_001 })
    await run(store, `update audit set actor = 'x' where seq = 1001`)
    expect(await verifyChain(store)).toMatchObject({ intact: false, seq: '1001' })
  })

  test.each([
    ['at', '1'],
    ['actor', `'x'`],
    ['by', `'x'`],
    ['address', 'null'],
    ['action', `'x'`],
    ['target', `'x'`],
    ['outcome', `'refused'`],
    ['before', `'[]'`],
    ['after', `'{ }'`],
    ['change', `'x'`],
    ['token', `'x'`],
    ['hash', `''`],
    ['at', '9223372036854775807'],
  ])('names the row whose %s was edited to %s', async (column, value) => {
    const { store } = await written()
    await run(store, `update audit set ${column} = ${value} where seq = 7`)
    expect(await verifyChain(store)).toEqual({
      intact: false,
      seq: '7',
      reason: 'The hash of row 7 does not match: it, or the row before it, was changed.',
    })
  })

  test('names the row after an edited row with a recomputed hash', async () => {
    const { store, hashes } = await written()
    const [row] = await store.db.selectFrom('audit').selectAll().where('seq', '=', 7).execute()
    if (row === undefined) throw new Error('no row 7')
    const forged = { ...row, actor: 'x' }
    const hash = rowHash(hashes[5] ?? '', { ...forged, seq: '7', at: String(row.at) })
    await run(store, `update audit set actor = 'x', hash = '${hash}' where seq = 7`)
    expect(await verifyChain(store)).toMatchObject({ intact: false, seq: '8' })
  })

  test.each([
    ['deleted', ['delete from audit where seq = 7'], '7', 'Row 7 is missing: row 8 follows row 6.'],
    [
      'deleted and later ones renumbered',
      [
        'delete from audit where seq = 7',
        ...[8, 9, 10, 11, 12].map((seq) => `update audit set seq = ${seq - 1} where seq = ${seq}`),
      ],
      '7',
      'The hash of row 7 does not match: it, or the row before it, was changed.',
    ],
    [
      'swapped',
      [
        'update audit set seq = -1 where seq = 3',
        'update audit set seq = 3 where seq = 9',
        'update audit set seq = 9 where seq = -1',
      ],
      '3',
      'The hash of row 3 does not match: it, or the row before it, was changed.',
    ],
    [
      'inserted before the first',
      [insert(0)],
      '0',
      'Row 0 was inserted: rows are numbered from 1.',
    ],
    [
      'inserted far before the first',
      [insert('-9223372036854775807')],
      '-9223372036854775807',
      'Row -9223372036854775807 was inserted: rows are numbered from 1.',
    ],
    [
      'inserted after the last',
      [insert(13)],
      '13',
      'The hash of row 13 does not match: it, or the row before it, was changed.',
    ],
    [
      'deleted at the end',
      ['delete from audit where seq > 10'],
      '11',
      'Row 11 is missing: the log was truncated; 12 rows were written.',
    ],
    [
      'all deleted',
      ['delete from audit'],
      '1',
      'Row 1 is missing: the log was truncated; 12 rows were written.',
    ],
    [
      'missing in the head',
      ['update audit_head set seq = 10, hash = (select hash from audit where seq = 10)'],
      '11',
      'Row 11 was inserted: 10 rows were written.',
    ],
    [
      'different from the head',
      [`update audit_head set hash = 'x'`],
      '12',
      'The hash of row 12 does not match: it is not the row that was written last.',
    ],
    [
      'without a head',
      ['delete from audit_head'],
      '13',
      'Row 13 cannot be verified: the head is missing.',
    ],
  ])('names the first invalid row if rows were %s', async (_what, forgery, seq, reason) => {
    const { store } = await written()
    for (const statement of forgery) await run(store, statement)
    expect(await verifyChain(store)).toEqual({ intact: false, seq, reason })
  })

  test('detects rows removed together with the head by a previously known row', async () => {
    const { store, hashes } = await written()
    const last = hashes[11] ?? ''
    await run(store, 'delete from audit where seq > 10')
    await run(store, `update audit_head set seq = 10, hash = '${hashes[9]}'`)
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 10 })
    const broken = { intact: false, seq: '11' }
    expect(await verifyChain(store, { seq: 12, hash: last })).toMatchObject(broken)
    expect(await verifyChain(store, { seq: undefined, hash: last })).toMatchObject(broken)
  })

  test('detects a rewritten log by a previously known row', async () => {
    const { store, hashes } = await written()
    for (const table of ['audit', 'audit_head']) await run(store, `delete from ${table}`)
    await run(store, `insert into audit_head (id, seq, hash) values (1, 0, '')`)
    await recordAll(
      store,
      Array.from({ length: 6 }, () => entry({ target: 'forged' })),
    )
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 6 })
    expect(await verifyChain(store, { seq: 5, hash: hashes[4] ?? '' })).toEqual({
      intact: false,
      seq: '5',
      reason: 'Row 5 does not have the given hash: the log was rewritten.',
    })
  })

  test('accepts rows after the previously known one', async () => {
    const { store, hashes } = await written()
    const rows: KnownRow[] = [
      { seq: 12, hash: hashes[11] ?? '' },
      { seq: 5, hash: hashes[4] ?? '' },
      { seq: undefined, hash: hashes[4] ?? '' },
      { seq: 0, hash: '' },
    ]
    for (const known of rows) {
      expect(await verifyChain(store, known)).toMatchObject({ intact: true, seq: ROWS })
    }
  })

  test('is valid while rows are being written', async () => {
    const { store } = await written()
    let isWalking = true
    let rows = ROWS
    const write = async () => {
      for (; isWalking; rows += 10) {
        await recordAll(
          store,
          Array.from({ length: 10 }, () => entry()),
        )
      }
    }
    const writer = write()
    const ends = new Set<number>()
    try {
      while (ends.size < 4) {
        const verdict = await verifyChain(store)
        expect(verdict).toMatchObject({ intact: true })
        if (verdict.intact) ends.add(verdict.seq)
        // SQLite responds within one turn of the event loop; the writer needs the next one.
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      isWalking = false
    }
    await writer
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: rows })
  })
})
