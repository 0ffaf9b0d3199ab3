import { consolePath, rowOf } from './support/page/endpoints-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { freePort } from './support/server/free-port.ts'
import { expect, test as oneNode } from './support/server/gatehouse.ts'
import { type Cluster, NODES_KEY, startCluster } from './support/server/nodes.ts'
import { signInWithKey } from './support/sign-in.ts'

const OUR_PAGE = { 'X-Gatehouse': '1', 'Sec-Fetch-Site': 'same-origin' }

/** A dead node is detected after twelve seconds, at the next heartbeat of another node. */
const missed = { timeout: 60_000 }

/** Journeys with three nodes on one PostgreSQL; the third has no local address for `home.test`. */
const test = oneNode.extend<{ cluster: Cluster }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from it that nothing is needed
  cluster: async ({}, use, { parallelIndex }) => {
    const homes = { ada: '127.0.0.1', bob: '127.0.0.2', cyd: '192.0.2.1' }
    const cluster = await startCluster(parallelIndex, homes)
    await use(cluster)
    await cluster.remove()
  },
  baseURL: async ({ cluster }, use) => {
    await use(cluster.nodes[0]?.url)
  },
})

test('Each node shows the state of all nodes, including changes and a failed node', async ({
  page,
  context,
  cluster,
}, { parallelIndex }) => {
  // Starts PostgreSQL and three nodes, and waits until one is detected as dead.
  test.slow()
  const [ada, bob] = cluster.nodes
  await signInWithKey(page, NODES_KEY, consolePath)
  // A session is valid on every node.
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
  // The first endpoint of each node is a loopback address of that node only.
  const first = ada?.url.replace('http', 'tcp') ?? ''
  await expect(rowOf(page, first)).toContainText('Listening on 1 of 3')

  await page.goto(`${consolePath}?${new URLSearchParams({ open: address })}`)
  const panel = page.getByRole('dialog', { name: address, exact: true })
  const state = panel.getByRole('region', { name: 'Nodes' }).getByRole('listitem')
  await expect(state.filter({ hasText: 'ada' })).toContainText('Listening')
  await expect(state.filter({ hasText: 'bob' })).toContainText('Listening')
  await expect(state.filter({ hasText: 'cyd' })).toContainText('Elsewhere')
  await expect(state.filter({ hasText: 'cyd' })).toContainText('another machine')

  await atBob.close()
  await bob?.kill()
  await expect(state.filter({ hasText: 'bob' })).toContainText(
    /Unknown unreachable for \d+ s/,
    missed,
  )
  await expect(state.filter({ hasText: 'ada' })).toContainText('Listening')
  await page.keyboard.press('Escape')
  // The page reports the node once; the rows show the state on the other nodes.
  const nodes = page.getByRole('button', { name: '1 of 3 nodes unreachable' })
  await expect(nodes).toBeVisible()
  await expect(rowOf(page, address)).toContainText('Listening on 1 of 2')
  await expect(rowOf(page, first)).toContainText('Listening on 1 of 2')
  await nodes.click()
  await expect(page.getByRole('list', { name: 'Nodes' })).toContainText(/bob\s*Unreachable for/)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  // The endpoint of the killed node no longer counts as access, so this one is the page's
  // connection.
  await rowOf(page, first)
    .getByRole('button', { name: `Actions for ${first}` })
    .click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect(page.getByRole('dialog')).toContainText('You are connected through this endpoint')
})
