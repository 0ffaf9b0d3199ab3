import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

// Loaded into the measured node (`node --import`): replaces `server/http/guards/require-role.ts`
// with `optional-require-role.ts` in all imports. The rest is the unchanged server, which has no
// switch for this.

const REAL = new URL('../../server/http/guards/require-role.ts', import.meta.url).href
const OPTIONAL = pathToFileURL(`${import.meta.dirname}/optional-require-role.ts`).href

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const replaced = resolved.url === REAL && context.parentURL !== OPTIONAL
    return replaced ? { ...resolved, url: OPTIONAL } : resolved
  },
})
