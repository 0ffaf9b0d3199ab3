import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** How long others took while jobs were running, ms; and the jobs themselves. */
export interface BesideJobs {
  readonly reads: readonly number[]
  readonly inserts: readonly number[]
  readonly jobs: readonly { readonly kind: string; readonly time: number }[]
}

/** How often somebody reads a document and somebody inserts one, ms; whether answered or not. */
const EVERY = 10

/** How often a job is asked how far it is, ms. */
const LOOK = 50

/**
 * Has many documents created, changed and deleted, each by a job, while others read and insert in
 * another collection. They do not wait for each other, so each of them that would have come while the
 * server stood still counts.
 *
 * @param to the endpoint, and the value of the header `Authorization`.
 * @throws where a job does not end well, or somebody else is refused.
 */
export async function besideJobs(
  to: { readonly host: string; readonly port: number; readonly token: string },
  documents: readonly object[],
): Promise<BesideJobs> {
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
    }, EVERY)

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
      let answer = await call('GET', location)
      while (answer.status === 206) {
        await pause(LOOK)
        answer = await call('GET', location)
      }
      jobs.push({ kind, time: performance.now() - begun })
      const { state, found } = JSON.parse(answer.text)
      if (state !== 'done' || found !== documents.length) throw new Error(answer.text)
    } finally {
      clearInterval(timer)
    }
    await Promise.all(pending.splice(0))
  }
  agent.destroy()
  return { reads, inserts, jobs }
}
