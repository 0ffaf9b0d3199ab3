import { afterEach, expect, test, vi } from 'vitest'
import { NoResponse, readJson } from './client.ts'
import { createUpload } from './fetch-upload.ts'

afterEach(() => vi.unstubAllGlobals())

/** Stubs the browser's `XMLHttpRequest`, which Node lacks. Returns the requests. */
function stubRequests() {
  const requests: FakeRequest[] = []
  class FakeRequest {
    readonly upload: Partial<XMLHttpRequestUpload> = {}
    readonly headers: Record<string, string> = {}
    sent: unknown
    target = ''
    status = 0
    response = ''
    onload?: () => void
    onerror?: () => void
    onabort?: () => void
    constructor() {
      requests.push(this)
    }
    open(method: string, url: string) {
      this.target = `${method} ${url}`
    }
    setRequestHeader(name: string, value: string) {
      this.headers[name] = value
    }
    send(body: unknown) {
      this.sent = body
    }
    abort() {
      this.onabort?.()
    }
    progress(loaded: number, total: number) {
      this.upload.onprogress?.call({} as XMLHttpRequest, { loaded, total } as ProgressEvent)
    }
  }
  vi.stubGlobal('XMLHttpRequest', FakeRequest)
  return requests
}

test('an upload reports the fraction that was sent, and resolves with the response', async () => {
  const requests = stubRequests()
  const fractions: number[] = []
  const upload = createUpload((fraction) => fractions.push(fraction), new AbortController().signal)
  const headers = { 'Content-Type': 'text/csv' }
  const response = upload('/articles', { method: 'POST', headers, body: 'id\n1' })
  const [request] = requests
  expect(request).toMatchObject({
    target: 'POST /articles',
    headers: { 'content-type': 'text/csv' },
    sent: 'id\n1',
  })
  request?.progress(1, 4)
  request?.progress(4, 4)
  request?.progress(0, 0)
  expect(fractions).toEqual([0.25, 1, 1])
  Object.assign(request ?? {}, { status: 422, response: '{"message":"The header is invalid."}' })
  request?.onload?.()
  expect((await response).status).toBe(422)
  await expect(readJson(response)).rejects.toThrow('The header is invalid.')
})

test.each([204, 205, 304])('an upload resolves with a %i, which has no body', async (status) => {
  const requests = stubRequests()
  const response = createUpload(() => {}, new AbortController().signal)('/articles')
  const [request] = requests
  Object.assign(request ?? {}, { status })
  request?.onload?.()
  expect((await response).status).toBe(status)
})

test('an upload rejects when the connection breaks', async () => {
  const requests = stubRequests()
  const response = createUpload(() => {}, new AbortController().signal)('/articles')
  requests[0]?.onerror?.()
  await expect(readJson(response)).rejects.toThrow(NoResponse)
})

test('an upload ends with the reason of its signal, and does not begin after it', async () => {
  const requests = stubRequests()
  const controller = new AbortController()
  const upload = createUpload(() => {}, controller.signal)
  const response = upload('/articles')
  controller.abort(new Error('cancelled'))
  await expect(response).rejects.toThrow('cancelled')
  const late = upload('/articles')
  expect(requests).toHaveLength(1)
  await expect(late).rejects.toThrow('cancelled')
})
