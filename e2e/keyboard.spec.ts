import type { Locator, Page } from '@playwright/test'
import { consolePath, panelOf, rowOf } from './support/page/endpoints-page.ts'
import { pressSequence } from './support/page/press-sequence.ts'
import { openPeopleProvider, signInAs } from './support/people.ts'
import { expect, freshTest, test } from './support/server/gatehouse.ts'

// Keyboard-only journeys that other files do not cover: controls are reached with Tab, without a
// pointer.

/** More presses of Tab than any page of these journeys has stops. */
const STEPS = 60

async function tabTo(page: Page, goal: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await expect(goal).toBeVisible()
  for (let step = 0; step < STEPS; step += 1) {
    if (await goal.evaluate((each) => each === document.activeElement)) return
    await page.keyboard.press(key)
  }
  await expect(goal).toBeFocused()
}

async function enter(page: Page, goal: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
  await tabTo(page, goal, key)
  await page.keyboard.press('Enter')
}

test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    const reject = () => Promise.reject(new Error('something was pointed at'))
    addEventListener('pointerdown', reject, { capture: true })
  })
})

/** Signs in with the operator key, using the keyboard only. */
async function signIn(page: Page, key: string): Promise<void> {
  await page.goto('/_console/endpoints')
  await expect(page.getByLabel('Operator key')).toBeFocused()
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
}

test('Sign-in, adding and mapping an endpoint, and sign-out work by keyboard', async ({
  page,
  gatehouse,
}) => {
  await signIn(page, gatehouse.operatorKey)
  await enter(page, page.getByRole('button', { name: 'Add endpoint' }))
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await expect(form.getByLabel('Port')).toBeFocused()
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await page.keyboard.type(`${port}`)
  await tabTo(page, form.getByRole('radio', { name: 'Only these' }))
  await page.keyboard.press('ArrowDown')
  await expect(form.getByRole('radio', { name: /^Every database/ })).toBeChecked()
  await page.keyboard.press('ArrowUp')
  await tabTo(page, form.getByRole('combobox', { name: 'Add a database' }))
  for (const name of ['blog', 'shop', 'news']) {
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
  }
  await tabTo(page, form.getByRole('button', { name: 'Move news up' }), 'Shift+Tab')
  await page.keyboard.press('Alt+ArrowUp')
  await page.keyboard.press('Alt+ArrowUp')
  await expect(form.getByText('The default database news does not exist.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, address)).toBeFocused()

  await page.keyboard.press('e')
  const mapping = page.getByRole('dialog', { name: `Mapping of ${address}` })
  await tabTo(page, mapping.getByRole('button', { name: 'Remove blog' }))
  await page.keyboard.press('Delete')
  await expect(mapping.getByText('No longer available here: blog.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, address)).toBeFocused()
  expect((await gatehouse.get('/_db/_system/_api/endpoint')).body).toContainEqual({
    endpoint: address,
    databases: ['news', 'shop'],
  })

  await enter(page, page.getByRole('button', { name: 'Operator account menu' }), 'Shift+Tab')
  await expect(page.getByRole('menuitem', { name: 'Sessions' })).toBeFocused()
  // A menu that opens focuses its first item twice, and on a slow machine the second time is late.
  await expect(async () => {
    await page.keyboard.press('ArrowDown')
    await expect(page.getByRole('menuitem', { name: 'Sign out' })).toBeFocused({ timeout: 2_000 })
  }).toPass()
  await page.keyboard.press('Enter')
  await expect(page.getByText('You are signed out.')).toBeVisible()
})

freshTest(
  'Editing a document, creating a token and assigning a role work by keyboard',
  async ({ page, gatehouse }) => {
    const { provider, env } = await openPeopleProvider()
    await gatehouse.restart(env)
    await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
    await gatehouse.post('/_db/blog/articles', { id: 'one', title: 'One' })
    await signInAs(gatehouse, provider, 'eve', 'pending')
    provider.close()
    await gatehouse.signIn(page, consolePath)
    const go = (letter: string) => pressSequence(page, 'g', letter)

    await go('o')
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
    await go('d')
    await enter(page, page.getByRole('rowheader').getByRole('link', { name: 'blog', exact: true }))
    await enter(
      page,
      page.getByRole('rowheader').getByRole('link', { name: 'articles', exact: true }),
    )
    await enter(page, page.getByRole('link', { name: 'one', exact: true }))
    const shown = page.getByRole('dialog', { name: 'Document one', exact: true })
    await enter(page, shown.getByRole('button', { name: 'Edit document' }))
    await expect(page.getByRole('textbox', { name: 'Document as JSON' })).toBeFocused()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{ "title": "Two" }')
    await page.keyboard.press('Control+Enter')
    await expect(shown).toContainText('"title": "Two"')
    await page.keyboard.press('Escape')
    await expect(page.getByRole('row', { name: 'one' })).toBeFocused()

    await go('a')
    await enter(page, page.getByRole('button', { name: 'Give access to Eve…' }))
    const question = page.getByRole('dialog', { name: 'Access of Eve' })
    await enter(page, question.getByRole('button', { name: 'Give access' }))
    await expect(page.getByRole('table', { name: 'People waiting for access' })).toBeHidden()
    await expect(page.getByRole('row').filter({ hasText: 'Eve' })).toContainText('Viewer')

    await enter(page, page.getByRole('link', { name: 'Tokens' }))
    await enter(page, page.getByRole('button', { name: 'Create token' }))
    await expect(page.getByLabel('Name')).toBeFocused()
    await page.keyboard.type('nightly backup')
    await page.keyboard.press('Control+Enter')
    const made = page.getByRole('dialog', { name: 'Token created' })
    await enter(page, made.getByRole('button', { name: 'Copy token' }))
    await enter(page, made.getByRole('button', { name: 'Done' }))
    await expect(page.getByRole('row').filter({ hasText: 'nightly backup' })).toBeVisible()
  },
)

test('A tab of the panel is chosen and a section of the policy edited by keyboard', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, consolePath)
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await tabTo(page, rowOf(page, own))
  await page.keyboard.press('Enter')
  const panel = panelOf(page, own)
  await tabTo(page, panel.getByRole('tab', { name: 'Status' }))
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const policy = panel.getByRole('tabpanel', { name: 'Policy' })
  const edit = policy.getByRole('button', { name: 'Edit: Limits' })
  await enter(page, edit)
  const form = page.getByRole('dialog', { name: `Limits · ${own}` })
  await expect(form.getByLabel('Requests per second')).toBeFocused()
  await page.keyboard.type('500')
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(edit).toBeFocused()
  await expect(policy).toContainText('500/s for each client')
})

test('Esc closes only the topmost layer, and the focus returns to its opener', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
  await gatehouse.signIn(page, consolePath)
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  const row = rowOf(page, own)
  await tabTo(page, row)
  await page.keyboard.press('Enter')
  const panel = page.locator('[data-panel]')
  await expect(panel).toBeVisible()
  await tabTo(page, row, 'Shift+Tab')

  // A list of suggestions over the search over a dialog over the panel.
  await page.keyboard.press('e')
  const mapping = page.getByRole('dialog', { name: `Mapping of ${own}` })
  await tabTo(page, mapping.getByRole('radio', { name: /^Every database/ }))
  await page.keyboard.press('ArrowUp')
  const field = mapping.getByRole('combobox', { name: 'Add a database' })
  await tabTo(page, field)
  await page.keyboard.type('bl')
  await expect(field.and(page.locator('[aria-expanded="true"]'))).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(field.and(page.locator('[aria-expanded="true"]'))).toBeHidden()
  await expect(field).toBeFocused()
  await page.keyboard.press('Control+K')
  const search = page.getByRole('dialog', { name: 'Search' })
  await expect(search.getByRole('combobox')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(search).toBeHidden()
  await expect(field).toBeFocused()
  await expect(field).toHaveValue('bl')
  await page.keyboard.press('Escape')
  await expect(mapping).toBeHidden()
  await expect(panel).toBeVisible()
  await expect(row).toBeFocused()

  // A menu over the panel.
  await enter(page, page.getByRole('button', { name: `Actions for ${own}` }))
  await expect(page.getByRole('menu')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('menu')).toBeHidden()
  await expect(page.getByRole('button', { name: `Actions for ${own}` })).toBeFocused()
  await expect(panel).toBeVisible()

  // While the filter has the focus, Esc clears its text before it closes the panel.
  await page.keyboard.press('/')
  await page.keyboard.type('127')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('searchbox', { name: 'Filter endpoints' })).toHaveValue('')
  await expect(panel).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(panel).toBeHidden()
})

test('Esc clears a selection once nothing is open above it, and the focus stays in the table', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
  await gatehouse.post('/_db/blog/articles', [{ id: 'one' }, { id: 'two' }])
  await gatehouse.signIn(page, consolePath)
  const own = rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`)
  await own.focus()
  await page.keyboard.press('Space')
  const endpoints = page.getByRole('region', { name: 'Selected endpoints' })
  await expect(endpoints).toContainText('1 selected')
  await page.keyboard.press('Enter')
  const panel = page.locator('[data-panel]')
  await expect(panel).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(panel).toBeHidden()
  await expect(endpoints).toBeVisible()
  await tabTo(page, endpoints.getByRole('button', { name: 'Export' }))
  await page.keyboard.press('Escape')
  await expect(endpoints).toBeHidden()
  await expect(own).toBeFocused()

  await page.goto('/_console/data/blog/articles')
  const row = page.locator('[data-row=one]')
  await row.focus()
  await page.keyboard.press('Space')
  const documents = page.getByRole('region', { name: 'Selected documents' })
  await expect(documents).toContainText('1 selected')
  await enter(page, documents.getByRole('button', { name: 'Delete' }))
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(documents).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(documents).toBeHidden()
  await expect(row).toBeFocused()
  await expect(page).toHaveURL(/\/articles$/)
})
