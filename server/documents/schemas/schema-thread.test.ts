import { expect, it } from 'vitest'
import { createSchemaThread } from './schema-thread.ts'

it('an unexpected error of a task does not affect the others', async () => {
  const thread = createSchemaThread()
  try {
    await thread.compile({ key: 'a', text: '{"type":"object"}' }, 1_000)
    const tasks = ['a', 'absent', 'a'].map((key) => ({ key, documents: ['{}'] }))
    const outcomes = await thread.run(tasks, 1_000)
    const valid = { result: { count: 0 } }
    const error = new Error('no compiled schema for absent')
    expect(outcomes).toMatchObject([valid, { error }, valid])
    expect(thread.loaded('a')).toBeDefined()
  } finally {
    await thread.close()
  }
})
