import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

// Loaded into a node that is measured for comparison (`node --import`): wherever it imports
// `server/http/permit.ts`, it gets `open-permit.ts`. All else is the server as it is, in which there
// is no switch for this.

const REAL = new URL('../server/http/permit.ts', import.meta.url).href
const OPEN = pathToFileURL(`${import.meta.dirname}/open-permit.ts`).href

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const replaced = resolved.url === REAL && context.parentURL !== OPEN
    return replaced ? { ...resolved, url: OPEN } : resolved
  },
})
