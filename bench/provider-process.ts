import { startTestProvider } from '../server/oauth2/provider.testing.ts'

// A provider of somebody else in a process of its own, forked by `sign-in.ts`: it is told the
// redirect URI, says its issuer, and ends with whoever has started it. Each sign-in at it is that of
// the same person.

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
