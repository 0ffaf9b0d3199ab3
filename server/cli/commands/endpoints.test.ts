import { beforeEach, expect, test } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { readEndpoints } from '../../endpoints/registry/repository.ts'
import type { Store } from '../../storage/store.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { addEndpoint } from './endpoint-add.ts'
import { removeEndpoint } from './endpoint-remove.ts'
import { nameList } from './name-list.ts'

const [first, second] = ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:2']
const record = createRecorder()

forEngine('sqlite', (engine) => {
  let store: Store

  beforeEach(async () => {
    store = await engine.open('tool')
    await addEndpoint(store, record, first, [])
  })

  const stored = async () =>
    Object.fromEntries(
      (await readEndpoints(store)).map(({ endpoint, databases }) => [endpoint, databases]),
    )
  const isLast = { code: 'conflict', message: expect.stringContaining('the last endpoint') }

  test('the last endpoint that reaches `_system` is neither removed nor mapped to others', async () => {
    await addEndpoint(store, record, second, ['blog'])
    await expect(removeEndpoint(store, record, first)).rejects.toMatchObject(isLast)
    await expect(addEndpoint(store, record, first, ['blog'])).rejects.toMatchObject(isLast)
    expect(await stored()).toEqual({ [first]: [], [second]: ['blog'] })
    await addEndpoint(store, record, first, ['blog', '_system'])
    await addEndpoint(store, record, second, [])
    await addEndpoint(store, record, first, ['blog'])
    await removeEndpoint(store, record, first)
    expect(await stored()).toEqual({ [second]: [] })
  })

  test('of two concurrent removals, one leaves the last endpoint', async () => {
    await addEndpoint(store, record, second, [])
    const removals = [first, second].map((address) => removeEndpoint(store, record, address))
    const outcomes = (await Promise.allSettled(removals)).map(({ status }) => status)
    expect(outcomes.sort()).toEqual(['fulfilled', 'rejected'])
    expect(Object.keys(await stored())).toHaveLength(1)
  })

  test('an endpoint without `_system` is added to an empty store', async () => {
    await store.db.deleteFrom('endpoints').execute()
    await addEndpoint(store, record, first, ['blog'])
    await removeEndpoint(store, record, first)
    expect(await stored()).toEqual({})
    await expect(removeEndpoint(store, record, first)).rejects.toMatchObject({
      code: 'endpoint-not-found',
    })
  })
})

test('a list of databases may have spaces after its commas', () => {
  expect(nameList.parse('blog, shop,')).toEqual(['blog', 'shop'])
})
