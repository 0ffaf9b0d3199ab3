// Bundles the server into the given folder, for tests that start it many times.

import { fillCompileCache } from '../server/test-support/bundle-server.testing.ts'
import { bundleServer } from '../tools/bundle-server.ts'

const [folder = ''] = process.argv.slice(2)
await fillCompileCache(await bundleServer(folder))
