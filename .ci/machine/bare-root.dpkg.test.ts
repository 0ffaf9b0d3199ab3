import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePorts } from '../../server/endpoints/listeners/free-ports.testing.ts'
import { signInWithKey } from '../../server/test-support/operator-session.testing.ts'
import { sendRequest } from '../../server/test-support/start.testing.ts'
import { type BareRoot, createBareRoot } from './bare-root.testing.ts'

// Runs the commands of the README on a bare machine, as a new user does.

/** Maximum time of each step, ms: it downloads packages. On two dedicated cores it takes 20 s. */
const STEP_TIMEOUT = 540_000

let bare: BareRoot
beforeAll(async () => {
  bare = await createBareRoot()
  await bare.run(`cd /src && git init -q && git add -A
    git -c user.name=test -c user.email=test@example.org commit -qm test`)
}, STEP_TIMEOUT)
afterAll(() => bare?.remove(), STEP_TIMEOUT)

describe('a bare Debian or Ubuntu with an older Node.js, npm and git', () => {
  test('has no other tools', async () => {
    for (const tool of ['cc', 'make', 'python3', 'curl', 'unzip']) {
      expect([tool, await bare.run(`command -v ${tool} || true`)]).toEqual([tool, ''])
    }
  })

  test(
    'installs without a warning, with a Node.js that starts',
    async () => {
      const printed = await bare.run(
        'cd /root && git clone -q /src gatehouse && cd gatehouse && npm ci',
      )
      expect(printed).toMatch(/added \d+ packages/)
      expect(printed).not.toMatch(/warn|EBADENGINE|error|deprecated/i)
      const version = 'cd /root/gatehouse && node_modules/.bin/node --version'
      expect(await bare.run(version)).toMatch(/^v24\./)
    },
    STEP_TIMEOUT,
  )

  test(
    'runs the server with its console, where the operator key signs in',
    async () => {
      const [port = 0] = await freePorts(1)
      const server = bare.start('cd /root/gatehouse && npm start', {
        GATEHOUSE_ENDPOINTS: `tcp://127.0.0.1:${port}`,
      })
      const ended = once(server, 'exit')
      try {
        await vi.waitFor(
          async () => expect((await sendRequest(port, 'GET', '/_api/health')).status).toBe(200),
          { timeout: STEP_TIMEOUT / 2, interval: 200 },
        )
        const page = await sendRequest(port, 'GET', '/_console/')
        expect(page.status).toBe(200)
        expect(page.text).toContain('<div id="root">')
        const key = path.join(bare.folder, 'root/gatehouse/data/operator.key')
        const cookie = await signInWithKey(port, readFileSync(key, 'utf8').trim())
        const session = await sendRequest(port, 'GET', '/_api/session', {
          headers: { Cookie: cookie },
        })
        expect(session.json).toMatchObject({ person: { username: 'local:operator' } })
      } finally {
        server.kill('SIGKILL')
        await ended
      }
    },
    STEP_TIMEOUT,
  )

  test(
    'creates a token by the documented command, which prints nothing else',
    async () => {
      const command = 'node bin/gatehouse.js token create --name first --role operator'
      expect(await bare.run(`cd /root/gatehouse && ${command}`)).toMatch(/^\S+\n$/)
    },
    STEP_TIMEOUT,
  )
})
