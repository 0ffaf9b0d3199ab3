import { expect, test } from 'vitest'
import type { TestResponse } from '../../test-support/start.testing.ts'
import { type Call, createDocumentWriter } from './document-writer.testing.ts'
import { randomNumbers } from './settings.testing.ts'

// Tests the checks of the endurance tests: lost changes, partial arrays and unknown documents are
// detected.

const answer = (status: number, text = ''): TestResponse => ({
  status,
  headers: {},
  text,
  json: {},
})

/** Makes changes, each answered by `respond`; returns the writer and the resulting store. */
async function write(count: number, respond: () => TestResponse | undefined) {
  const writer = createDocumentWriter('w', randomNumbers(1))
  const stored = new Map<string, number>()
  const arrays: string[][] = []
  const call: Call = async (method, path, body) => {
    const documents = [body ?? {}].flat() as { id?: string; v: number }[]
    const ids = documents.map(({ id }) => id ?? path.split('/').at(-1) ?? '')
    for (const [at, id] of ids.entries()) {
      if (method === 'DELETE') stored.delete(id)
      else stored.set(id, documents[at]?.v ?? 0)
    }
    if (ids.length > 1) arrays.push(ids)
    const given = respond()
    if (given === undefined) throw new Error('no answer')
    return given
  }
  for (let n = 0; n < count; n++) await writer.write(call)
  return { writer, stored, arrays }
}

test('a store with every acknowledged change passes, and one that lacks a change fails', async () => {
  const { writer, stored } = await write(50, () => answer(200))
  expect(writer.acknowledged).toBe(50)
  expect(() => writer.check(stored, false)).not.toThrow()
  const [[id, v]] = [...stored] as [[string, number]]
  expect(() => writer.check(new Map([...stored].filter(([each]) => each !== id)), false)).toThrow()
  expect(() => writer.check(new Map([...stored, [id, v + 1]]), false)).toThrow()
  expect(() => writer.check(new Map([...stored, ['w-999', 1]]), false)).toThrow()
})

test('unacknowledged changes may exist or not, but arrays are complete', async () => {
  const { writer, stored, arrays } = await write(50, () => undefined)
  expect(writer.acknowledged).toBe(0)
  expect(() => writer.check(stored, false)).not.toThrow()
  expect(() => writer.check(new Map(), false)).not.toThrow()
  const half = new Map([...stored].filter(([id]) => id !== arrays[0]?.[0]))
  expect(() => writer.check(half, false)).toThrow()
})

test('a rejected change must not exist', async () => {
  const refused = answer(503, 'The change could not be stored. Nothing was changed.')
  const { writer, stored } = await write(5, () => refused)
  expect(() => writer.check(new Map(), false)).not.toThrow()
  expect(() => writer.check(stored, false)).toThrow()
})

test('an unexpected response is an error', async () => {
  await expect(write(1, () => answer(404))).rejects.toThrow()
})
