import { cruise, type ICruiseResult } from 'dependency-cruiser'
import config from '../.dependency-cruiser.js'

// Fails if two sibling folders of the product import each other, directly or by their subfolders:
// imports between siblings have one direction. The rules of dependency-cruiser compare modules, not
// the folders that contain them, so this compares what it found.

/** Where a sibling folder imports from another one: `server/jobs → server/storage`. */
const imports = new Map<string, string>()

/** Returns the sibling folders that contain two files; undefined if one is in a parent folder. */
function siblingsOf(from: string, to: string): [string, string] | undefined {
  const [fromParts, toParts] = [from.split('/').slice(0, -1), to.split('/').slice(0, -1)]
  const same = fromParts.findIndex((part, at) => part !== toParts[at])
  if (same === -1 || same >= toParts.length) return undefined
  return [fromParts.slice(0, same + 1).join('/'), toParts.slice(0, same + 1).join('/')]
}

const { output } = await cruise(['server', 'web', 'bin'], {
  ...config.options,
  exclude: { path: ['\\.(css|svg|woff2|json)$', '\\.(test|testing|global-setup)\\.tsx?$'] },
})
for (const { source, dependencies } of (output as ICruiseResult).modules) {
  for (const { resolved } of dependencies) {
    const folders = siblingsOf(source, resolved)
    if (folders !== undefined) imports.set(folders.join(' → '), `${source} imports ${resolved}`)
  }
}

let pairs = 0
for (const [direction, example] of imports) {
  const [one = '', other = ''] = direction.split(' → ')
  const back = imports.get(`${other} → ${one}`)
  if (one > other || back === undefined) continue
  pairs++
  process.stderr.write(`${one} and ${other} import each other:\n  ${example}\n  ${back}\n`)
}
if (pairs > 0) process.exitCode = 1
