import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { bulkFailuresQuery } from './bulk-requests.ts'

afterEach(() => vi.unstubAllGlobals())

test('cancelling the query of the failures cancels its request', async () => {
  const sent = Promise.withResolvers<AbortSignal>()
  vi.stubGlobal('fetch', (_: unknown, { signal }: { signal: AbortSignal }) => {
    sent.resolve(signal)
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  const queryClient = new QueryClient()
  const read = queryClient.fetchQuery(bulkFailuresQuery('1')).catch(() => {})
  const signal = await sent.promise
  await queryClient.cancelQueries()
  expect(signal.aborted).toBe(true)
  await read
})
