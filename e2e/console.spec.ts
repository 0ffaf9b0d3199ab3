import { expect, test } from './support/gatehouse.ts'

test('The console opens, is called Gatehouse, and keeps to its own policy', async ({ page }) => {
  const answer = await page.goto('/_console/')
  expect(answer?.status()).toBe(200)
  expect(answer?.headers()['content-security-policy']).toMatch(/default-src|script-src/)
  await expect(page).toHaveTitle(/\bGatehouse$/)
  await expect(page.locator('#root')).not.toBeEmpty()
})
