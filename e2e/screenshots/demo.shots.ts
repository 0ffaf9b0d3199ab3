import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, type Page, test } from '@playwright/test'
import { giveKey } from '../support/sign-in.ts'
import { shoot } from './shoot.ts'

// Screenshots of pages that need a day of traffic and changes, which a demo has.

/** Starts a demo, and resolves with its console and operator key once clients use it. */
async function startDemo() {
  const child = spawn(process.execPath, ['bin/gatehouse.js', 'demo'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`
    if (line.includes('Ctrl-C')) break
  }
  return {
    url: /http:\S+/.exec(printed)?.[0] ?? '',
    key: /operator key: (\S+)/.exec(printed)?.[1] ?? '',
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit')
      child.kill('SIGINT')
      await exit
    },
  }
}

/** Opens a page of the console, and waits until its content is loaded. */
async function open(page: Page, path: string, ready: string | RegExp): Promise<void> {
  await page.goto(path)
  await expect(page.getByText(ready).filter({ visible: true }).first()).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: 'Loading' })).toHaveCount(0)
}

test('demo: overview, pages with traffic and history', async ({ page }) => {
  await using demo = await startDemo()
  const at = (path: string) => new URL(`/_console${path}`, demo.url).href
  await page.goto(at('/overview'))
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await giveKey(page, demo.key)
  await expect(page.getByRole('heading', { name: 'Needs attention' })).toBeVisible()
  for (const [name, path, ready] of [
    ['overview', '/overview', 'Recent changes'],
    ['overview-day', '/overview?range=24h', 'Recent changes'],
    ['overview-endpoints', '/overview?range=24h&by=endpoint', 'Slowest endpoints'],
    ['demo-endpoints', '/endpoints', 'Listening'],
    ['demo-map', '/endpoints/map', 'Databases'],
    ['demo-requests', '/endpoints/requests', 'Path'],
    ['demo-certificates', '/certificates', 'ssl://'],
    ['demo-data', '/data', 'sensors'],
    ['demo-webhooks', '/webhooks', 'warehouse'],
    ['demo-people', '/access/people', 'Paul Reyes'],
    ['demo-tokens', '/access/tokens', 'Last used'],
    ['demo-activity', '/activity', 'Today'],
  ] as const) {
    await open(page, at(path), ready)
    await shoot(page, name)
  }
  await page.goto(at('/overview?range=24h'))
  await page.getByText('Show as a table').click()
  await shoot(page, 'overview-table')
  await page.getByRole('link', { name: 'All activity' }).scrollIntoViewIfNeeded()
  await shoot(page, 'overview-end')
})
