import { createBrowser } from '../oauth2/sign-in/browser.testing.ts'
import type { TestNode } from './start.testing.ts'

/** Headers that a console page sends with a change, besides the cookie. */
export const CONSOLE_HEADERS = { 'Sec-Fetch-Site': 'same-origin', 'X-Gatehouse': '1' }

/**
 * Signs in with the operator key at a loopback port, as a browser does. Returns the header `Cookie`
 * of the new session.
 */
export async function signInWithKey(port: number, operatorKey: string): Promise<string> {
  const browser = createBrowser()
  const page = await browser.post(`http://127.0.0.1:${port}/_oauth2/local/auth`, {})
  await browser.post(page.url, { key: operatorKey }, (url) => url.pathname === '/')
  const [key, cookie] = [...browser.jar].find(([each]) => each.includes(' / gatehouse_')) ?? []
  if (key === undefined || cookie === undefined) throw new Error('the sign-in gave no session')
  return `${key.split(' ')[2]}=${cookie.value}`
}

/** Signs in at a node with {@link signInWithKey}. */
export const operatorSession = (node: TestNode): Promise<string> =>
  signInWithKey(node.port, node.node.operatorKey.read())
