import { expect, test } from 'vitest'
import { createDocumentRules } from '../documents/document-rules.ts'
import { createDocumentRepository } from '../documents/repository/repository.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createJobRepository } from './repository/repository.ts'
import { scanNext } from './scan.ts'

const where = { database: '_system', collection: 'articles' }
const now = () => 1_700_000_000_000

forEachEngine((engine) => {
  test('a resumed job continues after its last document, although that was deleted', async () => {
    const store = await engine.open()
    const rules = createDocumentRules(now)
    const ids = Array.from({ length: 600 }, (_, n) => `d${1_000 + n}`)
    await createDocumentRepository(store).insert(
      where,
      ids.map((id) => ({ id, body: JSON.stringify({ id, a: 1 }) })),
    )
    const job = await createJobRepository(store, now).create(where, 'list', 'attached', {
      filter: [['a', '1']],
    })
    const deleted = 'd1589x'
    const step = await scanNext(store, rules, { ...job, cursor: deleted }, ids)
    expect(step).toMatchObject({ cursor: 'd1599', found: 10 })
    expect(await scanNext(store, rules, { ...job, cursor: 'd1599x' }, ids)).toBeUndefined()
  })
})
