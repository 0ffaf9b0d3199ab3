import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeToken, sendRequest } from '../../server/test-support/start.testing.ts'
import { quantile } from '../load/statistics.ts'
import { FIRST_PORT } from '../servers/address.ts'
import { startGatehouse, storeEndpoints } from '../servers/gatehouse.ts'
import type { Attack, AttackedNode } from './attack.ts'
import type { HealthTimes } from './health-process.ts'

/** Health checks during an attack. */
export interface Row {
  readonly name: string
  /** Median, 99th percentile and maximum, ms. */
  readonly times: readonly number[]
  /** Health checks that failed or got another status than 200. */
  readonly failed: number
  /** Responses to the attack, by status. */
  readonly answers: ReadonlyMap<number | string, number>
  /** How long the attack took, ms. */
  readonly duration: number
  readonly ended: boolean
}

/** An attack is stopped after this time, ms. */
const MAX_ATTACK_TIME = 60_000
/** Minimum duration of the measurement, even if the attack ends at once, ms. */
const MIN_MEASURED_TIME = 500
/** Time for the node and the health process to settle, ms. */
const SETTLE = 500

/**
 * Starts a node with two endpoints, and measures health at the first while the second is attacked.
 */
export async function measure({ name, settings = {}, prepare }: Attack): Promise<Row> {
  const folder = await storeEndpoints(2)
  const server = await startGatehouse(2, folder, [], settings)
  const answers = new Map<number | string, number>()
  const node = await openNode(folder, server.process.pid, answers)
  try {
    const attack = await prepare(node)
    const health = startHealth(folder.host)
    try {
      await pause(SETTLE)
      answers.clear()
      await health.command('begin')
      const begun = performance.now()
      let duration = MAX_ATTACK_TIME
      const attacked = attack().then(() => {
        duration = performance.now() - begun
      })
      const ended = await Promise.race([
        Promise.all([attacked, pause(MIN_MEASURED_TIME)]).then(() => true),
        pause(MAX_ATTACK_TIME, false, { ref: false }),
      ])
      const { times, failed } = await health.command('end')
      const shown = [0.5, 0.99, 1].map((share) => quantile(times, share))
      return { name, times: shown, failed, answers, duration, ended }
    } finally {
      health.stop()
    }
  } finally {
    // After a stopped attack the node may not stop in time; the run kills remaining processes.
    await server.stop()
  }
}

async function openNode(
  { data, host }: { data: string; host: string },
  pid: number | undefined,
  answers: Map<number | string, number>,
): Promise<AttackedNode> {
  const port = FIRST_PORT + 1
  const token = await makeToken({ data, databaseUrl: undefined })
  const count = (status: number | string) => answers.set(status, (answers.get(status) ?? 0) + 1)
  const send: AttackedNode['send'] = async (method, path, body, { headers } = {}) => {
    const response = await sendRequest(port, method, path, {
      host,
      body,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
    }).catch((error: NodeJS.ErrnoException) => {
      count(error.code ?? error.message)
      throw error
    })
    count(response.status)
    return response
  }
  return {
    host,
    data,
    port,
    pid,
    token,
    send,
    count,
    async createToken(role) {
      const { json } = await send('POST', '/_api/token', { name: role, role })
      return json.token
    },
  }
}

/** Requests health from a separate process, so that the work of the attack does not delay it. */
function startHealth(host: string) {
  const file = join(import.meta.dirname, 'health-process.ts')
  const child = fork(file, [host, String(FIRST_PORT)], { serialization: 'advanced' })
  return {
    async command(what: 'begin' | 'end'): Promise<HealthTimes> {
      child.send(what)
      const [message] = await once(child, 'message')
      return message
    },
    stop: () => child.kill('SIGKILL'),
  }
}
