import { expect, type Page } from '@playwright/test'

/**
 * Signs in through the real local provider and goes to `path`, a page of the console. By the browser's
 * own requests, without drawing their pages: `session.spec.ts` shows those, and every other journey
 * would draw them again.
 */
export async function signInWithKey(page: Page, key: string, path: string): Promise<void> {
  const { request } = page.context()
  const asked = await request.post('/_oauth2/local/auth', { form: { returnTo: path } })
  const action = /<form method="post" action="([^"]+)">/.exec(await asked.text())?.[1]
  expect(action, 'the form of the local provider').toBeDefined()
  const answered = await request.post(action ?? '', { form: { key } })
  expect(answered.ok(), 'the key is taken').toBe(true)
  await page.goto(path)
  // Drawn, and its keys listened to: a page without its scripts takes none.
  await page.locator('h1').first().waitFor({ state: 'attached' })
}

/** Answers the page of the local provider. */
export async function giveKey(page: Page, key: string): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Sign in with the operator key' })).toBeVisible()
  await page.getByLabel('Operator key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
