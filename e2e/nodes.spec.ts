import { consolePath, rowOf } from './support/endpoints-page.ts'
import { expectAccessible } from './support/expect-accessible.ts'
import { freePort } from './support/free-port.ts'
import { expect, test as oneNode } from './support/gatehouse.ts'
import { NODES_KEY, type SeveralNodes, startSeveralNodes } from './support/nodes.ts'
import { signInWithKey } from './support/sign-in.ts'

const OUR_PAGE = { 'X-Gatehouse': '1', 'Sec-Fetch-Site': 'same-origin' }

/** A dead node is missed after twelve seconds, and the next look at the others. */
const missed = { timeout: 60_000 }

/** Journeys with three nodes on one PostgreSQL, of which the third has no address of its own. */
const test = oneNode.extend<{ several: SeveralNodes }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from it that nothing is needed
  several: async ({}, use, { parallelIndex }) => {
    const homes = { ada: '127.0.0.1', bob: '127.0.0.2', cyd: '192.0.2.1' }
    const several = await startSeveralNodes(parallelIndex, homes)
    await use(several)
    await several.remove()
  },
  baseURL: async ({ several }, use) => {
    await use(several.nodes[0]?.url)
  },
})

test('Several nodes are one console: each tells of all, of what changes at another, and of one that died', async ({
  page,
  context,
  several,
}, { parallelIndex }) => {
  // A PostgreSQL and three nodes are started for it, and one is missed only after a while.
  test.slow()
  const [ada, bob] = several.nodes
  await signInWithKey(page, NODES_KEY, consolePath)
  // Signed in at one is signed in at the other.
  const atBob = await context.newPage()
  await atBob.goto(`${bob?.url}${consolePath}`)
  await expect(atBob.getByText('Live', { exact: true })).toBeVisible()

  const address = `tcp://home.test:${await freePort(parallelIndex)}`
  const added = await page.request.post('/_db/_system/_api/endpoint', {
    headers: OUR_PAGE,
    data: { endpoint: address, databases: [] },
  })
  expect(added.status()).toBe(200)
  await expect(rowOf(atBob, address)).toBeVisible()
  for (const console of [page, atBob]) {
    await expect(rowOf(console, address)).toContainText('Listening on 2 of 3')
  }
  // The first endpoint of a node is on this one machine, so it is with that node alone.
  const first = ada?.url.replace('http', 'tcp') ?? ''
  await expect(rowOf(page, first)).toContainText('Listening on 1 of 3')

  await page.goto(`${consolePath}?${new URLSearchParams({ open: address })}`)
  const panel = page.getByRole('dialog', { name: address, exact: true })
  const state = panel.getByRole('region', { name: 'State' }).getByRole('listitem')
  await expect(state.filter({ hasText: 'ada' })).toContainText('Listening')
  await expect(state.filter({ hasText: 'bob' })).toContainText('Listening')
  await expect(state.filter({ hasText: 'cyd' })).toContainText('Elsewhere')
  await expect(state.filter({ hasText: 'cyd' })).toContainText('another machine’s')
  await expectAccessible(page)

  await atBob.close()
  await bob?.kill()
  await expect(state.filter({ hasText: 'bob' })).toContainText(/Unknown no news for \d+ s/, missed)
  await expect(state.filter({ hasText: 'ada' })).toContainText('Listening')
  await page.keyboard.press('Escape')
  await expect(rowOf(page, address)).toContainText(/Unknown on 1 of 3, no news for \d+ s/)
  // What died with its node is no way in any more, and the one that lives still is.
  await rowOf(page, first)
    .getByRole('button', { name: `Actions for ${first}` })
    .click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect(page.getByRole('dialog')).toContainText('You are connected through this endpoint')
  await expectAccessible(page)
})
