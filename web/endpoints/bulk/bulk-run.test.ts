import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { cancelBulk, startBulk } from './bulk-run.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

/** Responds to a bulk change with chunks of lines. Returns a function that breaks the connection. */
function respond(chunks: readonly string[], isComplete: boolean): () => void {
  let fail = () => {}
  vi.stubGlobal('fetch', async (url: string, { signal }: RequestInit) => {
    if (!url.endsWith('/endpoint-change')) return Response.json([])
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        if (isComplete) controller.close()
        fail = () => controller.error(new Error('broken'))
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: { 'Gatehouse-Change': 'x' } })
  })
  return () => fail()
}

const start = async () => {
  const changes = ['a', 'b', 'c'].map((endpoint) => ({ endpoint, databases: [] }))
  return startBulk(new QueryClient(), changes, { done: ['d'] })
}

const made = '{"at":0,"endpoint":"a","state":"made"}\n'
const failed = '{"at":1,"endpoint":"b","state":"failed","errorMessage":"The port is taken."}\n'

test('a bulk change counts its outcomes', async () => {
  const unchanged = '{"at":2,"endpoint":"c","state":"unchanged"}\n'
  respond([made.slice(0, 9), made.slice(9) + failed, unchanged], true)
  const { ended } = await start()
  expect(await ended).toMatchObject({
    ...{ id: 'x', total: 3, made: 1, unchanged: 1, end: 'completed' },
    failures: [{ endpoint: 'b', reason: 'The port is taken.' }],
    done: ['d', 'a', 'c'],
  })
})

test('a bulk change that is cancelled or loses its connection ends with what is known', async () => {
  respond([made], false)
  const cancelled = await start()
  cancelBulk()
  expect(await cancelled.ended).toMatchObject({ end: 'cancelled', total: 3 })
  const fail = respond([made], false)
  const broken = await start()
  fail()
  expect((await broken.ended).end).toMatchObject({ message: 'Gatehouse did not respond.' })
})
