// Bundles the server into the given folder, for tests that start it many times.

import {
  buildServerBundle,
  fillCompileCache,
} from '../server/test-support/bundle-server.testing.ts'

const [folder = ''] = process.argv.slice(2)
await fillCompileCache(await buildServerBundle(folder))
