import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// Part of `npm run build`: creates dist/oauth2-client, a package with only the OAuth 2.0 client,
// from packages/oauth2-client and the compiled module. `npm pack ./dist/oauth2-client` packs it.

const root = path.join(import.meta.dirname, '..')
const source = path.join(root, 'packages/oauth2-client')
const folder = path.join(root, 'dist/oauth2-client')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const name of ['client.js', 'client.d.ts']) {
  cpSync(path.join(root, 'dist/server/oauth2', name), path.join(folder, name))
}
cpSync(path.join(source, 'README.md'), path.join(folder, 'README.md'))
cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))

const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const { name, ...manifest } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'))
const text = JSON.stringify({ name, version, ...manifest }, null, 2)
writeFileSync(path.join(folder, 'package.json'), `${text}\n`)
