import { afterAll, expect, test } from 'vitest'
import { openApp } from '../test-support/app.testing.ts'

const { request, close } = await openApp()
afterAll(close)

test.each([
  ['', 200],
  ['?everybody=true', 200],
  ['?everybody=false', 200],
  ['?everybody=yes', 400],
  ['?everybody=true&everybody=true', 400],
])('GET /_api/token%s gets %i', async (query, status) => {
  const response = await request(`/_api/token${query}`)
  expect(response.status).toBe(status)
  if (status === 400) {
    expect(await response.json()).toMatchObject({ errorNum: 10, field: 'everybody' })
  }
})
