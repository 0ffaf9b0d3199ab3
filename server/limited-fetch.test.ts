import { expect, test } from 'vitest'
import { limitedFetch } from './limited-fetch.ts'

const answering = (bytes: number, status = 200) =>
  limitedFetch(async () => new Response(bytes === 0 ? null : new Uint8Array(bytes), { status }))

test('accepts a response of 1 MiB, and rejects a longer one', async () => {
  const whole = await answering(1_048_576)('http://id.example', {})
  expect((await whole.arrayBuffer()).byteLength).toBe(1_048_576)
  await expect(answering(1_048_577)('http://id.example', {})).rejects.toThrow('more than 1048576')
})

test('keeps the status of a response without a body', async () => {
  expect((await answering(0, 204)('http://id.example', {})).status).toBe(204)
})
