import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** People of the demo, by the id that the provider gives out. */
export const PEOPLE = {
  ada: { name: 'Ada Byron', role: 'admin' },
  otto: { name: 'Otto Lind', role: 'operator' },
  edith: { name: 'Edith Marsh', role: 'editor', databases: ['blog'] },
  vera: { name: 'Vera Costa', role: 'viewer' },
  paul: { name: 'Paul Reyes', role: 'pending' },
} as const

/**
 * Starts an OAuth 2.0 provider on loopback that signs in anyone whom its page names, so that a demo
 * shows the sign-in of every role. Returns the settings of Gatehouse for it.
 */
export async function startPeopleProvider() {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/authorize') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
      response.end(choicePage(searchParams))
      return
    }
    let body = ''
    for await (const chunk of request) {
      body += chunk
      if (body.length > MAX_BODY) return void response.writeHead(413).end()
    }
    // Both the code and the access token are the id of the person.
    const id = (
      pathname === '/token'
        ? new URLSearchParams(body).get('code')
        : request.headers.authorization?.slice('Bearer '.length)
    ) as keyof typeof PEOPLE
    const answer =
      pathname === '/token' ? { access_token: id } : { id, name: PEOPLE[id]?.name ?? null }
    response.writeHead(id in PEOPLE ? 200 : 400, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: {
      GATEHOUSE_OAUTH2_AUTH_ENDPOINT: `${origin}/authorize`,
      GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: `${origin}/token`,
      GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT: `${origin}/user`,
      GATEHOUSE_OAUTH2_CLIENT_ID: 'gatehouse-demo',
      GATEHOUSE_OAUTH2_CLIENT_SECRET: 'not-a-secret-0123456789-0123456789',
      GATEHOUSE_OAUTH2_LABEL: 'Demo People',
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Maximum size of a request to the provider, bytes. */
const MAX_BODY = 16_384

/** The page on which a visitor chooses whom to sign in. */
function choicePage(query: URLSearchParams): string {
  const callback = URL.parse(query.get('redirect_uri') ?? '')
  if (callback === null || callback.hostname !== '127.0.0.1')
    return 'The redirect URI is not local.'
  const choices = Object.entries(PEOPLE).map(([id, { name, role }]) => {
    const url = new URL(callback)
    url.searchParams.set('code', id)
    url.searchParams.set('state', query.get('state') ?? '')
    const href = url.href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    return `<li><a href="${href}">${name}</a> (${role})</li>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Demo People</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font: 16px/1.8 system-ui; margin: 15vh auto; max-width: 24rem">
<h1 style="font-size: 1.25rem">Who signs in?</h1><ul>${choices.join('')}</ul></body></html>`
}

/** Signs a person in as a browser would, so that Gatehouse knows them. */
export async function signIn(console: string, person: string): Promise<void> {
  const callback = new URL('/_oauth2/oauth2/auth', console)
  const began = await fetch(callback, { method: 'POST', redirect: 'manual' })
  const authorize = new URL(began.headers.get('location') ?? '', callback)
  const [cookie = ''] = (began.headers.get('set-cookie') ?? '').split(';')
  const redirect = new URL(authorize.searchParams.get('redirect_uri') ?? '')
  redirect.searchParams.set('code', person)
  redirect.searchParams.set('state', authorize.searchParams.get('state') ?? '')
  const ended = await fetch(redirect, { headers: { cookie }, redirect: 'manual' })
  if (ended.status !== 303) throw new Error(`${person} was not signed in: ${ended.status}`)
}
