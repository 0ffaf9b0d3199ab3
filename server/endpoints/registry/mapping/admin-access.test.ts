import { expect, test } from 'vitest'
import type { Listener } from '../../listeners/listener.ts'
import { createAdminAccess } from './admin-access.ts'
import { createMapping } from './mapping.ts'

const listener = () => ({ state: 'listening', mapping: createMapping([]) }) as unknown as Listener

test('a listener whose mapping is updated while it is removed does not count as serving _system', async () => {
  const access = createAdminAccess(undefined)
  const [one, other] = [listener(), listener()]
  access.update(one)
  access.update(other)
  const removeOther = () => access.withdraw(other, async () => {})
  const failed = access.withdraw(one, async () => {
    access.update(one)
    await expect(removeOther()).rejects.toMatchObject({ code: 'conflict' })
    throw new Error('not stored')
  })
  await expect(failed).rejects.toThrow('not stored')
  await removeOther()
})
