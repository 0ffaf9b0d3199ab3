// At its import the package warns of every Node.js that is no long-term release yet. The one that npm
// brings here is what it is tested with, and each command would begin with a wrong alarm.
const { warn } = console
console.warn = () => {}
const oidcProvider = await import('oidc-provider')
console.warn = warn

/** What is used of `oidc-provider`. */
export const { Provider, errors, interactionPolicy } = oidcProvider
