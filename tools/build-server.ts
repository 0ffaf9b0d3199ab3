import path from 'node:path'
import { bundleServer } from './bundle-server.ts'

// Part of `npm run build`: creates dist/server, the server of the packed form.

await bundleServer(path.join(import.meta.dirname, '../dist/server'))
