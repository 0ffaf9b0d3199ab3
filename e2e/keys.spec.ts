import { consolePath } from './support/page/endpoints-page.ts'
import { pressSequence } from './support/page/press-sequence.ts'
import { expect, test } from './support/server/gatehouse.ts'

test('The shortcuts dialog opens with ? and closes with Esc or by going back', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, consolePath)
  const main = page.getByRole('main')
  await main.focus()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(keys.getByText('Go to Overview')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(keys).toBeHidden()
  await expect(main).toBeFocused()

  await page.keyboard.press('?')
  await expect(keys).toBeVisible()
  await page.goBack()
  await expect(keys).toBeHidden()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))

  // Before the browser has navigated back: Esc again, and a key that opens something else.
  await page.keyboard.press('?')
  await expect(keys).toBeVisible()
  await page.evaluate(() => {
    const press = (key: string, ctrlKey = false) =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }),
      )
    press('Escape')
    press('Escape')
    press('k', true)
  })
  const search = page.getByRole('dialog', { name: 'Search' })
  await search.getByRole('combobox').fill('documents')
  await expect(search.getByRole('status')).toContainText(/result/)
  await expect(keys).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(search).toBeHidden()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
})

test('Single-character shortcuts can be turned off', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/me')
  await page.getByLabel('Single-character shortcuts').uncheck()
  await page.getByRole('main').focus()
  await pressSequence(page, 'g', 'e')
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('dialog', { name: 'Search' })).toBeVisible()
  await expect(page).toHaveURL(/\/me#search$/)
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/me$/)
  await page.reload()
  await expect(page.getByLabel('Single-character shortcuts')).not.toBeChecked()
  await page.getByRole('button', { name: 'Show keyboard shortcuts' }).click()
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(keys.getByText('Search')).toBeVisible()
  await expect(keys.getByText('Go to Endpoints')).toHaveCount(0)
  await expect(keys.getByText('Add an endpoint')).toHaveCount(0)

  // The letter keys of the table are off too; its other keys still work.
  await page.goto(consolePath)
  const row = page.getByRole('row', { name: `${gatehouse.port}` })
  await row.focus()
  for (const letter of ['n', 'e', 't', 'c', 'j', 'k', '/']) await page.keyboard.press(letter)
  await expect(row).toBeFocused()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expect(page.getByText('was copied')).toHaveCount(0)
  await page.keyboard.press('Delete')
  await expect(page.getByRole('dialog')).toBeVisible()
})

test('/ focuses the filter, and shortcuts do not act in a field or over a dialog', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, consolePath)
  await expect(page.getByRole('row', { name: `${gatehouse.port}` })).toBeVisible()
  await page.keyboard.press('/')
  const filter = page.getByRole('searchbox')
  await expect(filter).toBeFocused()
  await page.keyboard.type('gv/?')
  await expect(filter).toHaveValue('gv/?')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await filter.fill('')

  await page.goto('/_console/endpoints/new')
  await expect(page.getByLabel('Port')).toBeFocused()
  const close = page.getByRole('dialog').getByRole('button', { name: 'Close' })
  await close.focus()
  await pressSequence(page, 'g', 'v')
  // The keys dialog is above the form; Esc closes only the dialog.
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeHidden()
  await expect(close).toBeFocused()
  await expect(page).toHaveURL(/\/endpoints\/new$/)
})
