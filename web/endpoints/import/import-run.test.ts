import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EndpointChangeView } from '../../../server/contract/endpoints/endpoint-change.ts'
import { bulkChange } from '../bulk/bulk-change.testing.ts'
import { clearImport, resumeImport, startImport } from './import-run.ts'

/** The states of the bulk change, one for each time it is read; the last one repeats. */
let views: EndpointChangeView[] = []
/** Responds to requests for the failures of the bulk change. */
let respondFailures: () => Response

const view = (part: Partial<EndpointChangeView> = {}) =>
  bulkChange({ id: '1', total: 2, made: 1, failed: 1, ...part })

const running = view({ state: 'running', made: 0, failed: 0, left: 2 })

const nextView = () => (views.length > 1 ? views.shift() : views[0])

beforeEach(() => {
  respondFailures = () => Response.json({}, { status: 500 })
  vi.stubGlobal('fetch', async (url: string, { method }: RequestInit) => {
    if (url.includes('/endpoint-change/')) return respondFailures()
    if (!url.endsWith('/endpoint-change')) return Response.json([])
    return Response.json(method === 'POST' ? nextView() : [nextView()])
  })
})
afterEach(() => {
  clearImport()
  vi.unstubAllGlobals()
})

const added = (address: string) =>
  ({ kind: 'added', address, before: null, after: [], revision: undefined }) as const

const start = () =>
  startImport([added('tcp://a:1'), added('tcp://b:1')], {
    queryClient: new QueryClient(),
    here: 'tcp://here:1',
    removeAnyway: false,
    onStarted: () => {},
  })

test('an import ends with the reasons of its failures', async () => {
  views = [running, view()]
  const failure = { at: 1, endpoint: 'tcp://b:1', errorMessage: 'The port is taken.' }
  respondFailures = () => Response.json({ ...view(), failures: [failure], next: null })
  expect(await start()).toMatchObject({
    made: 1,
    failed: 1,
    failures: new Map([['tcp://b:1', 'The port is taken.']]),
    end: { by: 'all' },
  })
})

test('an import ends with what is known if its failures cannot be read', async () => {
  views = [running, view()]
  const outcome = { made: 1, failed: 1, failures: undefined, end: { by: 'all' } }
  expect(await start()).toMatchObject(outcome)
})

test('an import that was resumed ends if its failures cannot be read', async () => {
  views = [running, view()]
  const outcome = { made: 1, failed: 1, failures: undefined, end: { by: 'all' } }
  expect(await resumeImport(new QueryClient(), '1')).toMatchObject(outcome)
})
