import { startTestProvider } from '../../server/oauth2/providers/provider.testing.ts'

// A third-party provider in a separate process, forked by `sign-in.ts`. It receives the redirect
// URI, replies with its issuer, and exits with its parent. Every sign-in is by the same person.

process.once('message', async (redirectUri: string) => {
  const provider = await startTestProvider([
    {
      client_id: 'gatehouse',
      client_secret: 'only for measuring',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ])
  process.send?.(provider.issuer)
})
process.once('disconnect', () => process.exit())
