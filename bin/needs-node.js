/** The oldest major version of Node.js that runs the server. */
const OLDEST_NODE = 24

/** @param {string} version such as `v24.21.0` */
export const isNewEnough = (version) => Number(/^v(\d+)\./.exec(version)?.[1]) >= OLDEST_NODE

/** Message for a machine without a Node.js that is new enough. */
export const NEEDS_NODE = `Gatehouse needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}: install a newer one from your system's packages or https://nodejs.org/.`
