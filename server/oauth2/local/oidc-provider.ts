// On import, the package warns about Node.js versions that are not LTS yet. Gatehouse is tested
// with the version that npm installs (docs/decisions/0001-install-node-through-npm.md), so the
// warning would be a false alarm in the output of every command.
const { warn } = console
console.warn = () => {}
const oidcProvider = await import('oidc-provider')
console.warn = warn

export const { Provider, errors, interactionPolicy } = oidcProvider
