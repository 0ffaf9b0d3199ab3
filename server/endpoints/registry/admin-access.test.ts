import { expect, test } from 'vitest'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Listener } from '../listeners/listener.ts'
import { createMapping } from '../mapping.ts'
import { createAdminAccess } from './admin-access.ts'
import { deleteEndpoint, writeEndpoint } from './endpoint-writer.ts'

const listener = (name = 'tcp://127.0.0.1:1') =>
  ({ name, state: 'listening', mapping: createMapping([]) }) as unknown as Listener

test('a listener whose mapping is updated while it is removed does not count as serving _system', async () => {
  const access = createAdminAccess(undefined)
  const [one, other] = [listener(), listener()]
  access.update(one)
  access.update(other)
  const removeOther = () => access.withdraw(other, null, async () => {})
  const failed = access.withdraw(one, null, async () => {
    access.update(one)
    await expect(removeOther()).rejects.toMatchObject({ code: 'conflict' })
    throw new Error('not stored')
  })
  await expect(failed).rejects.toThrow('not stored')
  await removeOther()
})

// On PostgreSQL, the nodes check each other's listeners instead.
forEngine('sqlite', (engine) => {
  test('an endpoint with `_system` is kept unless another one listens and is stored', async () => {
    const store = await engine.open()
    const [one, other] = [listener(), listener('tcp://127.0.0.1:2')]
    const access = createAdminAccess(undefined)
    access.update(one)
    access.update(other)
    const change = { record: createRecorder(), actor: COMMAND_LINE }
    const put = (endpoint: string, databases: string[]) =>
      writeEndpoint(store, { endpoint, databases }, change)
    await put(one.name, [])
    // Another process has removed the endpoint of the other listener. Nothing listens on this one.
    await put('tcp://127.0.0.1:3', [])
    const remove = () =>
      access.withdraw(one, null, (guard) => deleteEndpoint(store, one.name, { ...change, guard }))
    await expect(remove()).rejects.toMatchObject({ code: 'conflict' })
    await put(other.name, ['xsystem'])
    await expect(remove()).rejects.toMatchObject({ code: 'conflict' })
    await put(other.name, ['blog', '_system'])
    // More listeners whose endpoints another process has removed come first.
    for (let port = 10; port < 30; port++) access.update(listener(`tcp://127.0.0.1:${port}`))
    access.forget(other)
    access.update(other)
    expect(await remove()).toBe(true)
  })
})
