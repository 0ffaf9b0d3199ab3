import { Agent, request } from 'node:http'

// Requests `/_api/health` every 10 ms between the messages "begin" and "end", without waiting for
// earlier responses. Then waits for the outstanding responses and reports.

/** The report of the process after "end". */
export interface HealthTimes {
  /** From sending a request to its complete response, ms. */
  readonly times: readonly number[]
  readonly failed: number
}

const PERIOD = 10
/** Maximum number of outstanding requests: the first ones already measure a stall. */
const MAX_OUTSTANDING = 200
/** A response that takes longer counts as failed, ms. */
const RESPONSE_TIMEOUT = 70_000

const [host, port] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxFreeSockets: MAX_OUTSTANDING })
let times: number[] = []
let failed = 0
const outstanding = new Set<Promise<void>>()

function checkHealth(): Promise<void> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const done = (ok: boolean) => {
      times.push(performance.now() - begun)
      if (!ok) failed++
      resolve()
    }
    const options = { host, port, path: '/_api/health', agent, timeout: RESPONSE_TIMEOUT }
    const sent = request(options, (response) => {
      response.resume()
      response.once('end', () => done(response.statusCode === 200))
      response.once('error', () => done(false))
    })
    sent.once('timeout', () => sent.destroy(new Error('no answer')))
    sent.once('error', () => done(false))
    sent.end()
  })
}

let timer: NodeJS.Timeout | undefined
process.on('message', async (what) => {
  if (what === 'begin') {
    // The first request opens the connection and is not counted.
    await checkHealth()
    times = []
    failed = 0
    timer = setInterval(() => {
      if (outstanding.size >= MAX_OUTSTANDING) return
      const check = checkHealth().finally(() => outstanding.delete(check))
      outstanding.add(check)
    }, PERIOD)
  } else {
    clearInterval(timer)
    await Promise.all(outstanding)
  }
  process.send?.({ times, failed } satisfies HealthTimes)
})
process.once('disconnect', () => process.exit())
