import type { Page } from '@playwright/test'
import { ARTICLES, dialogOf, makeBlog } from './support/page/documents-page.ts'
import { expect, test } from './support/server/gatehouse.ts'

const optionsOf = (page: Page) => page.getByRole('listbox').getByRole('option')
const highlighted = (page: Page) =>
  page.getByRole('listbox').getByRole('option', { selected: true })

const articles = [
  { id: 'a', status: 'draft', 'status.code': 1, 'last status': 'new' },
  { id: 'b', status: 'done', title: 'B', ' note ': 'B' },
]

test('Enter takes the highlighted field of an index, and other text can still be entered', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, articles)
  await gatehouse.signIn(page, `${ARTICLES}/indexes`)
  await page.getByRole('button', { name: 'Create index' }).first().click()
  const form = dialogOf(page, 'Create index on articles')
  const field = form.getByRole('combobox', { name: 'Field 1', exact: true })
  await expect(field).toBeFocused()
  await page.keyboard.type('stat')
  // Prefixes come before other matches.
  await expect(optionsOf(page)).toHaveText(['status', /^status/, 'last status'])
  await expect(highlighted(page)).toHaveText('status')
  await expect(field).toHaveAttribute(
    'aria-activedescendant',
    (await highlighted(page).getAttribute('id')) ?? '',
  )
  await page.keyboard.press('ArrowUp')
  await expect(highlighted(page)).toHaveText('last status')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(field).toHaveValue('status')
  await expect(optionsOf(page)).toHaveCount(0)
  await expect(form).toBeVisible()

  // Nothing is highlighted while the text equals a suggestion.
  await field.fill('statu')
  await page.keyboard.type('s')
  await expect(optionsOf(page).first()).toHaveText('status')
  await expect(highlighted(page)).toHaveCount(0)
  // A list with nothing but the text itself is hidden.
  await field.fill('title')
  await expect(optionsOf(page)).toHaveCount(0)

  await field.fill(' note ')
  await expect(optionsOf(page)).toHaveCount(0)

  // Tab leaves the text as it was typed.
  await field.fill('stat')
  await expect(highlighted(page)).toHaveText('status')
  await page.keyboard.press('Tab')
  await expect(optionsOf(page)).toHaveCount(0)
  await expect(field).toHaveValue('stat')
  // Escape closes the list, then Enter submits the form.
  await field.fill('sta')
  await expect(highlighted(page)).toHaveText('status')
  await page.keyboard.press('Escape')
  await expect(optionsOf(page)).toHaveCount(0)
  await page.keyboard.press('Enter')
  await expect(form).toBeHidden()
  await expect(page.getByRole('row').filter({ hasText: 'by-sta' })).toBeVisible()
})
