import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { MAIN } from '../../test-support/server-process.testing.ts'
import { startForTest } from '../../test-support/start.testing.ts'

const run = promisify(execFile)
const page = readFileSync(new URL('../../../docs/sign-in.md', import.meta.url), 'utf8')

test('docs/sign-in.md creates a token that its examples can use', async () => {
  const node = await startForTest()
  onTestFinished(node.stop)
  const chapter = page.slice(page.indexOf('\n## Tokens\n'), page.indexOf('\n## Trusted proxies\n'))
  const commands = [...chapter.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text)
  const script = commands
    .join('')
    .replaceAll('curl', 'curl -fsS -w "\\n"')
    .replaceAll('127.0.0.1:8529', `127.0.0.1:${node.port}`)
  const gatehouse = `gatehouse() { '${process.execPath}' '${MAIN}' "$@"; }`
  const env = { ...process.env, GATEHOUSE_DATA: node.data }
  const { stdout } = await run('bash', ['-ec', `${gatehouse}\n${script}`], { env })
  const responses = stdout.trim().split('\n')
  expect(responses.length).toBeGreaterThanOrEqual(2)
  for (const response of responses) {
    expect(JSON.parse(response)).toEqual([{ endpoint: node.address, databases: [] }])
  }
})
