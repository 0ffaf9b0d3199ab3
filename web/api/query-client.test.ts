import { QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { ApiFailure } from './client.ts'
import { sessionQuery } from './queries.ts'
import { queryClient } from './query-client.ts'

afterEach(() => {
  queryClient.clear()
  vi.unstubAllGlobals()
})

test('a session that was requested before a 401 does not count as signed in', async () => {
  const early = Promise.withResolvers<Response>()
  const fetched = vi.fn().mockReturnValueOnce(early.promise)
  fetched.mockImplementation(async () => Response.json(null))
  vi.stubGlobal('fetch', fetched)
  const stop = new QueryObserver(queryClient, sessionQuery).subscribe(() => {})
  const queryFn = () => Promise.reject(new ApiFailure(401, 401, 'not signed in'))
  await expect(queryClient.fetchQuery({ queryKey: ['other'], queryFn })).rejects.toThrow()
  early.resolve(Response.json({ person: { id: 'ada' } }))
  await expect.poll(() => queryClient.isFetching()).toBe(0)
  expect(queryClient.getQueryData(sessionQuery.queryKey)).toBeNull()
  stop()
})
