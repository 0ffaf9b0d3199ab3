import type { Page } from '@playwright/test'
import { dialogOf, editorOf, makeBlog } from './support/page/documents-page.ts'
import {
  chooseEveryDatabase,
  chooseInMenu,
  consolePath,
  openTab,
  rowOf,
} from './support/page/endpoints-page.ts'
import { expect, test } from './support/server/gatehouse.ts'

// Each journey begins on the page Activity. After its dialogs have closed, Back leads there.

const nav = (page: Page, label: string) => page.getByRole('link', { name: label, exact: true })

async function expectBackLeavesPage(page: Page): Promise<void> {
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.goBack()
  await expect(page).toHaveURL(/\/_console\/activity$/)
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

/** Makes the next step in the history have no effect, as if the browser had cancelled it. */
const cancelNextStep = (page: Page) =>
  page.evaluate(() => {
    const go = history.go.bind(history)
    history.go = () => {
      history.go = go
    }
  })

test('Back skips the closed dialogs and panels of endpoints', async ({ page, gatehouse }) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.signIn(page, '/_console/activity')
  await nav(page, 'Endpoints').click()
  await expect(rowOf(page, own)).toBeVisible()

  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByLabel('Port').fill(`${port}`)
  await chooseEveryDatabase(page)
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, address)).toBeFocused()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await chooseInMenu(page, address, 'Edit mapping')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))

  // One panel after the other, and a dialog over the second, which reappears.
  await rowOf(page, own).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: own, exact: true })).toBeVisible()
  await rowOf(page, address).focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: address, exact: true })
  await panel.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Keep it' }).click()
  await expect(panel).toBeVisible()
  await expect(page).toHaveURL(/\?open=[^&]+$/)
  await panel.getByRole('button', { name: 'Remove' }).click()
  await page
    .getByRole('dialog', { name: `Remove ${address}?` })
    .getByRole('button', { name: 'Remove endpoint' })
    .click()
  await expect(panel).toContainText('This endpoint was removed.')
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expectBackLeavesPage(page)
})

test('A panel that closes after the table was sorted keeps the order', async ({
  page,
  gatehouse,
}) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, own).focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: own, exact: true })
  await expect(panel).toBeVisible()
  await page.getByRole('button', { name: 'Address', exact: true }).click()
  await expect(page).toHaveURL(/sort=/)
  await panel.getByRole('button', { name: 'Close the panel' }).click()
  await expect(panel).toBeHidden()
  await expect(page).toHaveURL(/\?sort=[^&]+$/)
  await page.goBack()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expect(panel).toBeHidden()
})

test('A dialog that was opened from a link is replaced by its page', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/activity')
  await page.goto(`${consolePath}?edit=${encodeURIComponent(`tcp://127.0.0.1:${gatehouse.port}`)}`)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expectBackLeavesPage(page)
})

test('A dialog that is opened after a slow step back stays open', async ({ page, gatehouse }) => {
  await page.addInitScript(() => {
    const go = history.go.bind(history)
    history.go = (steps) => void setTimeout(go, 1_500, steps)
  })
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, `${consolePath}?${new URLSearchParams({ open: own })}`)
  const panel = page.getByRole('dialog', { name: own, exact: true })
  const databases = await openTab(page, own, 'Databases')
  await databases.getByRole('button', { name: 'Edit mapping' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await panel.getByRole('button', { name: 'Duplicate' }).click()
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await form.getByRole('button', { name: 'Cancel' }).click()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
})

test('Back skips the closed dialogs of documents and indexes', async ({ page, gatehouse }) => {
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, '/_console/activity')
  await page.goto('/_console/data/blog/articles')
  await nav(page, 'one').click()
  await page.getByRole('button', { name: 'Edit document' }).click()
  await editorOf(page).fill('{ "id": "one", "title": "Two" }')
  await page.keyboard.press('Control+Enter')
  const stored = dialogOf(page, 'Document one')
  await expect(stored).toContainText('Two')
  await page.keyboard.press('Escape')
  await expect(stored).toBeHidden()

  await page.getByRole('button', { name: 'Create document' }).click()
  await editorOf(page).fill('{ "id": "two" }')
  await page.keyboard.press('Control+Enter')
  await dialogOf(page, 'Document two').getByRole('button', { name: 'Delete document' }).click()
  const question = dialogOf(page, 'Delete document two?')
  await question.getByRole('button', { name: 'Delete document' }).click()
  await expect(question).toBeHidden()
  await expect(page).toHaveURL(/\/data\/blog\/articles$/)
  await expectBackLeavesPage(page)

  await page.goForward()
  await nav(page, 'Indexes').click()
  await page.getByRole('button', { name: 'Create index' }).click()
  await expect(page.getByRole('dialog', { name: 'Create index on articles' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page).toHaveURL(/\/indexes$/)
  await page.goBack()
  await expect(page).toHaveURL(/\/data\/blog\/articles$/)
  await expectBackLeavesPage(page)
})

test('Closing a panel that the search opened does not skip the page before it', async ({
  page,
  gatehouse,
}) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await expect(rowOf(page, own)).toBeVisible()
  const search = async (text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search/ }).fill(text)
    await page.keyboard.press('Enter')
  }
  await search('Activity')
  await expect(page).toHaveURL(/\/_console\/activity$/)
  await search(own)
  await expect(page.getByRole('dialog', { name: own, exact: true })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expectBackLeavesPage(page)
})

test('A panel that is opened twice closes with one step back', async ({ page, gatehouse }) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  const panel = page.getByRole('dialog', { name: own, exact: true })
  for (let n = 0; n < 3; n++) {
    await rowOf(page, own).focus()
    await page.keyboard.press('Enter')
    await expect(panel).toBeVisible()
  }
  await page.goBack()
  await expect(panel).toHaveCount(0)
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
})

test('A panel whose step back is cancelled does not replace the page that is opened next', async ({
  page,
  gatehouse,
}) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await page.clock.install()
  await gatehouse.signIn(page, '/_console/endpoints')
  await rowOf(page, own).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: own, exact: true })).toBeVisible()
  await cancelNextStep(page)
  await page.keyboard.press('Escape')
  await nav(page, 'Activity').click()
  await expect(page).toHaveURL(/\/activity$/)
  // Longer than a step back may take.
  await page.clock.fastForward(6_000)
  await nav(page, 'Endpoints').click()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await page.goBack()
  await expect(page).toHaveURL(/\/activity$/)
})
