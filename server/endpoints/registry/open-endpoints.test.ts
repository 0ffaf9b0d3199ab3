import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { add, addressesOf, remove } from './endpoint-fixture.testing.ts'

let folder: string
let nodes: TestNode[]
let first: string
let second: string
let third: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-configured-'))
  nodes = []
  ;[first = '', second = '', third = ''] = (await freePorts(3)).map(
    (port) => `tcp://127.0.0.1:${port}`,
  )
})
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
  rmSync(folder, { recursive: true, force: true })
})

forEachEngine((engine) => {
  /** Starts a node with these configured endpoints, alone unless `beside` is set. */
  async function start(endpoints: string[], { node = 'a', beside = false } = {}) {
    if (!beside) await Promise.all(nodes.splice(0).map((each) => each.stop()))
    const told: unknown[] = []
    const log = pino({}, { write: (line: string) => void told.push(JSON.parse(line)) })
    const location = { data: folder, ...engine.location() }
    const started = await startForTest({ ...location, node, endpoints }, log)
    nodes.push(started)
    const lines = told.filter((line) => (line as { msg: string }).msg.includes('stay removed'))
    return { node: started, lines }
  }

  test('a removed configured endpoint stays removed, until it is added or another set is configured', async () => {
    const { node } = await start([first, second])
    await remove(node, second)
    const again = await start([second, first])
    expect(await addressesOf(again.node)).toEqual([first])
    expect(again.lines).toMatchObject([{ endpoints: [second] }])

    await add(again.node, second)
    const added = await start([first, second])
    expect(await addressesOf(added.node)).toEqual([first, second].sort())
    await remove(added.node, second)
    const changed = await start([first, second, third])
    expect(await addressesOf(changed.node)).toEqual([first, second, third].sort())
    expect([...added.lines, ...changed.lines]).toEqual([])
  })

  if (engine.name !== 'postgres') return

  test('a new node with the configuration of another one does not add what was removed', async () => {
    const { node } = await start([first, second])
    await remove(node, second)
    const { lines } = await start([first, second], { node: 'b', beside: true })
    expect(await addressesOf(node)).toEqual([first])
    expect(lines).toMatchObject([{ endpoints: [second] }])
  })
})
