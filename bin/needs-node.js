/** The oldest major version of Node.js that runs the server. */
const OLDEST_NODE = 24

/** @param {string} version such as `v24.21.0` */
export const isNewEnough = (version) => Number(/^v(\d+)\./.exec(version)?.[1]) >= OLDEST_NODE

const ADVICE = "install a newer one from your system's packages or https://nodejs.org/."

/** Message for a machine without a Node.js that is new enough. */
export const NEEDS_NODE = `Gatehouse needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}: ${ADVICE}`

/** The versions of Node.js with which npm can install a checkout. */
export const INSTALLS_WITH = 'Node.js 20.19+ or 22.12+'

/**
 * Returns whether npm installs a checkout completely. With other versions, it leaves out the native
 * parts of the build tools without an error.
 *
 * @param {string} version of the Node.js that runs npm
 */
export function canInstall(version) {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)
}

/** @param {string} version of the Node.js that runs npm */
export const needsNodeToInstall = (version) =>
  `npm needs ${INSTALLS_WITH} to install Gatehouse, and runs on ${version}: ${ADVICE}`
