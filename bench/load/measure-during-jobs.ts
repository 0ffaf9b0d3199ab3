import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** Times of other requests while jobs were running, and of the jobs, ms. */
export interface JobMeasurements {
  readonly reads: readonly number[]
  readonly inserts: readonly number[]
  readonly jobs: readonly { readonly kind: string; readonly time: number }[]
}

/** Period of reads and of inserts, ms; a slow response does not delay the next request. */
const PERIOD = 10

/** Duration of requests before the first job, which do not count, ms. */
const WARM_UP = 2_000

/** Polling interval of jobs, ms. */
const POLL_INTERVAL = 50

/**
 * Creates, changes and deletes many documents with one job each, while other requests read and
 * insert in another collection. These requests do not wait for each other, so requests that are due
 * while the server stalls count too.
 *
 * @param to the endpoint, and the value of the header `Authorization`.
 * @throws if a job fails or another request is rejected.
 */
export async function measureDuringJobs(
  to: { readonly host: string; readonly port: number; readonly token: string },
  documents: readonly object[],
): Promise<JobMeasurements> {
  const agent = new Agent({ keepAlive: true })
  const call = (method: string, path: string, body?: string, headers = {}) =>
    new Promise<{ status: number; text: string; location: string }>((resolve, reject) => {
      const where = { host: to.host, port: to.port, method, path, agent }
      const sent = request(
        { ...where, headers: { Authorization: to.token, ...headers } },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (part: string) => {
            text += part
          })
          answer.on('end', () => {
            const { statusCode: status = 0, headers } = answer
            if (status >= 400) reject(new Error(`${method} ${path} answered ${status}: ${text}`))
            resolve({ status, text, location: headers.location ?? '' })
          })
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })

  const pending: Promise<unknown>[] = []
  const timed = (into: number[], method: string, path: string, body?: string) => {
    const begun = performance.now()
    pending.push(call(method, path, body).then(() => into.push(performance.now() - begun)))
  }
  const reads: number[] = []
  const inserts: number[] = []
  await call('POST', '/others', '{"id":"one"}')
  const begin = () =>
    setInterval(() => {
      timed(reads, 'GET', '/others/one')
      timed(inserts, 'POST', '/others', '{"title":"On the measurement of servers"}')
    }, PERIOD)

  const warmUp = begin()
  await pause(WARM_UP)
  clearInterval(warmUp)
  await Promise.all(pending.splice(0))
  reads.length = 0
  inserts.length = 0

  const jobs: { kind: string; time: number }[] = []
  for (const [kind, method, body] of [
    ['create', 'POST', JSON.stringify(documents)],
    ['patch', 'PATCH', '{"read":true}'],
    ['delete', 'DELETE', undefined],
  ] as const) {
    const timer = begin()
    try {
      const begun = performance.now()
      const headers = { Prefer: 'respond-async' }
      const { location } = await call(method, '/of-jobs', body, headers)
      let response = await call('GET', location)
      while (response.status === 206) {
        await pause(POLL_INTERVAL)
        response = await call('GET', location)
      }
      jobs.push({ kind, time: performance.now() - begun })
      const { state, found } = JSON.parse(response.text)
      if (state !== 'done' || found !== documents.length) throw new Error(response.text)
    } finally {
      clearInterval(timer)
    }
    await Promise.all(pending.splice(0))
  }
  agent.destroy()
  return { reads, inserts, jobs }
}
