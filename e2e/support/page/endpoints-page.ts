import type { Page } from '@playwright/test'

/** The path of the Endpoints page. */
export const consolePath = '/_console/endpoints'

/** Returns the row of an endpoint. */
export const rowOf = (page: Page, address: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader').filter({ hasText: address }) })

/** Opens the menu of a row. */
export const openMenu = (page: Page, address: string) =>
  page.getByRole('button', { name: `Actions for ${address}` }).click()

/** Chooses an item in the menu of a row. */
export async function chooseInMenu(page: Page, address: string, item: string): Promise<void> {
  await openMenu(page, address)
  await page.getByRole('menuitem', { name: item }).click()
}

/** Maps all databases in the form of an endpoint. */
export const chooseEveryDatabase = (page: Page) =>
  page.getByRole('radio', { name: 'Every database, and this console' }).check()

/** Adds names in the mapping form, one after the other. */
export async function addDatabases(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) {
    const field = page.getByRole('combobox', { name: 'Add a database' })
    await field.fill(name)
    await field.press('Enter')
  }
}

/** Returns the panel of an endpoint. */
export const panelOf = (page: Page, address: string) =>
  page.getByRole('dialog', { name: address, exact: true })

/** Opens a tab of the panel, and returns its content. */
export async function openTab(page: Page, address: string, tab: string) {
  await panelOf(page, address).getByRole('tab', { name: tab }).click()
  return panelOf(page, address).getByRole('tabpanel', { name: tab })
}
