import type { Page } from '@playwright/test'
import { ARTICLES, dialogOf, makeBlog } from './support/page/documents-page.ts'
import { consolePath } from './support/page/endpoints-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
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
  await expectAccessible(page)
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

test('Enter in a filter takes suggestions, and moves from the field to an empty value', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, articles)
  await gatehouse.signIn(page, ARTICLES)
  const ids = page.getByRole('rowheader')
  await expect(ids).toHaveText(['a', 'b'])
  await page.keyboard.press('/')
  const form = page.getByRole('form', { name: 'New filter' })
  const field = form.getByRole('combobox', { name: 'Field' })
  const value = form.getByRole('combobox', { name: 'Value' })
  await expect(field).toBeFocused()
  await page.keyboard.type('statu')
  await page.keyboard.press('Enter')
  await expect(field).toHaveValue('status')
  await expect(field).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(value).toBeFocused()
  // A value is completed only with the arrow keys.
  await page.keyboard.type('d')
  await expect(optionsOf(page)).toHaveText(['draft', 'done'])
  await expect(highlighted(page)).toHaveCount(0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(value).toHaveValue('draft')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/filter=status%3Ddraft/)
  await expect(ids).toHaveText(['a'])

  await page.getByRole('button', { name: 'Edit the filter status is draft' }).click()
  const edit = page.getByRole('form', { name: 'Edit filter' })
  await edit.getByRole('combobox', { name: 'Condition' }).selectOption('starts with')
  await edit.getByRole('combobox', { name: 'Value' }).fill('d')
  await expect(optionsOf(page)).toHaveText(['draft', 'done'])
  await expect(highlighted(page)).toHaveCount(0)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/filter=status%3Astarts%3Dd$/)
  await expect(ids).toHaveText(['a', 'b'])
})

test('Enter adds the suggested database to a mapping, or the typed one if there is none', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'shop' })
  await gatehouse.signIn(page, `${consolePath}/new`)
  const field = page.getByRole('combobox', { name: 'Add a database' })
  await field.focus()
  await page.keyboard.type('sho')
  await expect(highlighted(page)).toHaveText('shop')
  await page.keyboard.press('Enter')
  const names = page.getByRole('list', { name: 'Databases in order' }).getByRole('listitem')
  await expect(names).toHaveText([/^shop/])
  await expect(field).toHaveValue('')
  await page.keyboard.type('sho')
  await expect(optionsOf(page)).toHaveCount(0)
  await page.keyboard.press('Enter')
  await expect(names).toHaveText([/^shop/, /^sho/])
})
