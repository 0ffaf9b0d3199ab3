import { expect, test } from 'vitest'
import { START } from '../audit/record.ts'
import type { Store } from '../storage/store.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createDatabaseRegistry } from './registry.ts'

forEngine('postgres', (engine) => {
  const registryOf = (store: Store) =>
    createDatabaseRegistry(
      store,
      () => {},
      async () => {},
    )

  /** Opens a node with a hook between the commit of a change and its response. */
  async function slowNode() {
    const store = await engine.open()
    let meanwhile = async () => {}
    const node = await registryOf({
      ...store,
      async change(work) {
        const result = await store.change(work)
        await meanwhile()
        return result
      },
    })
    return { node, onCommit: (act: () => Promise<void>) => (meanwhile = act) }
  }

  test('a late response to a creation does not restore a database dropped since', async () => {
    const { node, onCommit } = await slowNode()
    const other = await registryOf(await engine.open())
    onCommit(async () => {
      await other.sync()
      await other.drop('blog', START)
      await node.sync()
    })
    await node.create('blog', START)
    expect(node.has('blog')).toBe(false)
  })

  test('a late response to a drop does not remove a database created since', async () => {
    const { node, onCommit } = await slowNode()
    const other = await registryOf(await engine.open())
    await node.create('blog', START)
    onCommit(async () => {
      await other.create('blog', START)
      await node.sync()
    })
    await node.drop('blog', START)
    expect(node.idOf('blog')).toBe(other.idOf('blog'))
  })
})
