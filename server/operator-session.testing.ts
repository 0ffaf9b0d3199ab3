import { createBrowser } from './oauth2/browser.testing.ts'
import type { TestNode } from './start.testing.ts'

/** What a page of ours sends with a change, besides the cookie. */
export const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' }

/**
 * For tests: signs in at a node with its operator key, as a browser does, and answers the header
 * `Cookie` of the new session.
 */
export async function operatorSession(node: TestNode): Promise<string> {
  const browser = createBrowser()
  const origin = `http://127.0.0.1:${node.port}`
  const page = await browser.post(`${origin}/_oauth2/local/auth`, {})
  await browser.post(page.url, { key: node.node.operatorKey.read() }, (url) => url.pathname === '/')
  const [key, cookie] = [...browser.jar].find(([each]) => each.includes(' / gatehouse_')) ?? []
  if (key === undefined || cookie === undefined) throw new Error('the sign-in gave no session')
  return `${key.split(' ')[2]}=${cookie.value}`
}
