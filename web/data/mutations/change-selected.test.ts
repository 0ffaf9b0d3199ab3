import { afterEach, expect, test, vi } from 'vitest'
import { patchEach, undoChanges } from './change-selected.ts'

afterEach(() => vi.unstubAllGlobals())

const articles = { database: 'blog', collection: 'articles' }

/** Returns a version of a document. Its ETag is its number. */
const version = (id: string, number: number) => ({
  id,
  json: `{"id":"${id}","version":${number}}`,
  etag: `"${number}"`,
})

/** Stubs a server with these versions of documents. It rejects every other version with 412. */
function stubServer(stored: Record<string, number>) {
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const id = new URL(url, 'http://127.0.0.1').searchParams.get('id') ?? ''
    const current = stored[id]
    const ifMatch = new Headers(init.headers).get('If-Match')
    if (ifMatch !== null && ifMatch !== `"${current}"`) {
      return Response.json({ id: 'precondition_failed', message: 'Changed.' }, { status: 412 })
    }
    if (current === undefined) {
      return Response.json({ id: 'not_found', message: 'Not found.' }, { status: 404 })
    }
    return new Response(version(id, current).json, { headers: { ETag: '"new"' } })
  })
}

test('a patch distinguishes documents that someone changed from those that someone deleted', async () => {
  stubServer({ kept: 1, changed: 2 })
  const documents = ['kept', 'changed', 'deleted'].map((id) => version(id, 1))
  expect(await patchEach(articles, documents, '{}')).toMatchObject({
    changes: [{ before: { id: 'kept' } }],
    failures: [{ id: 'changed', reason: 'Someone changed it.', isUnknown: false }],
    gone: 1,
  })
})

test('an undo deletes the documents that were created, unless someone changed them', async () => {
  stubServer({ kept: 1, changed: 2 })
  const changes = ['kept', 'changed', 'deleted'].map((id) => ({
    id,
    before: undefined,
    after: version(id, 1),
  }))
  expect(await undoChanges(articles, changes)).toMatchObject({
    verb: 'deleted',
    changes: [{ id: 'kept' }],
    failures: [{ id: 'changed', reason: 'Someone changed it.', isUnknown: false }],
    gone: 1,
  })
})

test('an undo does not report documents that someone deleted as changed', async () => {
  stubServer({ kept: 2, changed: 3 })
  const changes = ['kept', 'changed', 'deleted'].map((id) => ({
    id,
    before: version(id, 1),
    after: version(id, 2),
  }))
  expect(await undoChanges(articles, changes)).toMatchObject({
    changes: [{ before: { id: 'kept' } }],
    failures: [{ id: 'changed', reason: 'Someone changed it.', isUnknown: false }],
    gone: 1,
  })
})
