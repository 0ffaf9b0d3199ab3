import { expect, it } from 'vitest'
import { forEachEngine } from '../test-support/each-engine.testing.ts'
import { instanceId } from './instance-id.ts'

forEachEngine((engine) => {
  it('is created once by concurrent callers', async () => {
    const store = await engine.open()
    const ids = await Promise.all([instanceId(store), instanceId(store), instanceId(store)])
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}$/)
  })
})
