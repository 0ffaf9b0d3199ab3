// Bundles the server into the given folder, for tests that start it many times.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { buildServerBundle } from '../server/test-support/bundle-server.testing.ts'

const [folder = ''] = process.argv.slice(2)
const main = await buildServerBundle(folder)
// Writes the compile cache, as the servers that tests kill do not.
await promisify(execFile)(process.execPath, [main, '--help'])
