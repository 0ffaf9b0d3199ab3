import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

// Loaded into a node for comparison (`node --import`): replaces
// `server/http/guards/require-role.ts` with `open-require-role.ts` in all imports. The rest is the
// unchanged server, which has no switch for this.

const REAL = new URL('../../server/http/guards/require-role.ts', import.meta.url).href
const OPEN = pathToFileURL(`${import.meta.dirname}/open-require-role.ts`).href

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const replaced = resolved.url === REAL && context.parentURL !== OPEN
    return replaced ? { ...resolved, url: OPEN } : resolved
  },
})
