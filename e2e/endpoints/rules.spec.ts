import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { Policy, PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { chooseInMenu, consolePath, openTab, rowOf } from '../support/page/endpoints-page.ts'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { expect, type Gatehouse, freshTest as test } from '../support/server/gatehouse.ts'

// Tests what the rest of the console knows of the policies of endpoints.

const policyPath = '/_db/_system/_api/policy'

/** Adds an endpoint with a policy, and returns its address. */
async function addRuled(gatehouse: Gatehouse, policy: Policy): Promise<string> {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  const changes = [{ endpoint, databases: ['_system'], policy }]
  await gatehouse.post('/_db/_system/_api/endpoint-change', { changes })
  return endpoint
}

const policyOf = async (gatehouse: Gatehouse, address: string) =>
  ((await gatehouse.get(policyPath)).body as PolicyRecord[]).find(
    ({ endpoint }) => endpoint === address,
  )?.policy

test('The table shows the rules and notes of endpoints, which can be filtered and searched', async ({
  page,
  gatehouse,
}) => {
  const closesAt = new Date(Date.now() + 80 * 60_000).toISOString()
  const temporary = await addRuled(gatehouse, { closesAt, readOnly: true, maxConnections: 5 })
  const partner = await addRuled(gatehouse, { readOnly: true, note: 'For the partner in Oslo' })
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await expect(rowOf(page, temporary)).toContainText(/removed in 1 h (19|20) min/)
  await expect(rowOf(page, temporary)).toContainText('more: read-only, 5 connections')
  await expect(rowOf(page, partner)).toContainText('For the partner in Oslo')
  await expectAccessibleInBothThemes(page)

  const filter = page.getByRole('searchbox', { name: 'Filter endpoints' })
  await rowOf(page, partner).getByRole('button', { name: 'read-only' }).click()
  await expect(filter).toHaveValue('rule:read-only')
  await expect(rowOf(page, own)).toBeHidden()
  await expect(page.getByRole('rowheader')).toHaveCount(2)
  await rowOf(page, partner).getByRole('button', { name: 'read-only' }).click()
  await filter.fill('oslo')
  await expect(page.getByRole('rowheader')).toHaveCount(1)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('oslo')
  await page.getByRole('option', { name: partner }).click()
  const panel = page.getByRole('dialog', { name: partner })
  await expect(panel).toContainText('For the partner in Oslo')
  // A change by another person is shown at once.
  await gatehouse.post('/_db/_system/_api/endpoint-change', {
    changes: [{ endpoint: partner, policy: { enabled: false, note: 'Closed' } }],
  })
  await expect(panel).toContainText('Closed')
  await expect(panel).toContainText('Turned off by its policy.')
  const changes = await openTab(page, partner, 'Changes')
  await expect(changes.getByRole('listitem').first()).toContainText(
    `changed the policy of ${partner}`,
  )
  await filter.fill('')
  await expect(rowOf(page, partner)).toContainText('Off')
})

test('A policy is copied, imported, undone and restored with its endpoint', async ({
  page,
  gatehouse,
}) => {
  const policy: Policy = { readOnly: true, note: 'For the partner' }
  const closesAt = new Date(Date.now() + 3_600_000).toISOString()
  const address = await addRuled(gatehouse, { ...policy, closesAt })
  await gatehouse.signIn(page, consolePath)
  const last = page.getByRole('region', { name: 'Last change' })

  await page.goto(`${consolePath}/new?${new URLSearchParams({ like: address })}`)
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await expect(form).toContainText(`Copies the rules of ${address}`)
  const port = await gatehouse.freePort()
  await form.getByLabel('Port').fill(`${port}`)
  await form.getByRole('button', { name: 'Add endpoint' }).click()
  await expect(form).toBeHidden()
  const copy = `tcp://127.0.0.1:${port}`
  expect(await policyOf(gatehouse, copy)).toEqual(policy)

  await chooseInMenu(page, copy, 'Remove endpoint')
  const removal = page.getByRole('dialog', { name: `Remove ${copy}?` })
  await removal.getByRole('button', { name: 'Remove endpoint' }).click()
  await expect(removal).toBeHidden()
  await last.hover()
  expect(await policyOf(gatehouse, copy)).toBeUndefined()
  await last.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => policyOf(gatehouse, copy)).toEqual(policy)

  // Only the policy differs.
  await page.goto(`${consolePath}/import`)
  const dialog = page.getByRole('dialog', { name: 'Import endpoints' })
  const file: (EndpointRecord & { policy: Policy })[] = [
    { endpoint: copy, databases: ['_system'], policy: { ...policy, readOnly: false } },
  ]
  await dialog.getByLabel('Or paste endpoints as JSON').fill(JSON.stringify(file))
  await expect(dialog).toContainText('1 will be changed.')
  await expect(dialog.getByRole('list', { name: 'Changed rules' })).toHaveText(
    'Documents: read-only → read and write',
  )
  await expectAccessibleInBothThemes(page)
  await dialog.getByRole('button', { name: 'Import 1 change' }).click()
  await expect(dialog.getByText('The change was made.').first()).toBeVisible()
  expect(await policyOf(gatehouse, copy)).toEqual({ ...policy, readOnly: false })

  await page.goto('/_console/activity?what=policy.set')
  await page
    .getByRole('button', { name: new RegExp(`policy of ${copy}.*, details$`) })
    .first()
    .click()
  await expect(page.getByRole('definition')).toHaveText('read-only became read and write')
  await page.getByRole('link', { name: 'Restore previous state' }).click()
  const restore = page.getByRole('dialog', { name: `Restore ${copy}?` })
  await expect(restore.getByRole('list', { name: 'Changed rules' })).toHaveText(
    'Documents: read and write → read-only',
  )
  await restore.getByRole('button', { name: 'Restore policy' }).click()
  await expect(restore).toBeHidden()
  expect(await policyOf(gatehouse, copy)).toEqual(policy)
  await last.hover()
  await last.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => policyOf(gatehouse, copy)).toEqual({ ...policy, readOnly: false })
})

test('Selected endpoints are turned off and on', async ({ page, gatehouse }) => {
  const addresses = [await addRuled(gatehouse, { readOnly: true }), await addRuled(gatehouse, {})]
  await gatehouse.signIn(page, consolePath)
  for (const address of addresses) {
    await page.getByRole('checkbox', { name: `Select ${address}` }).check()
  }
  const chosen = page.getByRole('region', { name: 'Selected endpoints' })
  const turn = async (label: string) => {
    await chosen.getByRole('button', { name: label }).click()
    const dialog = page.getByRole('dialog', { name: `${label} 2 endpoints?` })
    await dialog.getByRole('button', { name: label }).click()
    await expect(dialog).toBeHidden()
  }
  await turn('Turn off')
  for (const address of addresses) await expect(rowOf(page, address)).toContainText('Off')
  const [first = '', second = ''] = addresses
  expect(await policyOf(gatehouse, first)).toEqual({ readOnly: true, enabled: false })
  for (const address of addresses) {
    await page.getByRole('checkbox', { name: `Select ${address}` }).check()
  }
  await turn('Turn on')
  for (const address of addresses) await expect(rowOf(page, address)).toContainText('Listening')
  expect(await policyOf(gatehouse, first)).toEqual({ readOnly: true })
  expect(await policyOf(gatehouse, second)).toBeUndefined()
})
