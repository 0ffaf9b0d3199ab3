import { shellQuote } from '../../ui/text/shell-quote.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** Returns the URL of the changes of a collection after a position, with documents. */
function changesUrl({ database, collection }: CollectionRef, origin: string, after: string) {
  const path = `/_db/${encodeURIComponent(database)}/_feed/${encodeURIComponent(collection)}`
  return `${origin}${path}/changes?include=document&after=${after}`
}

/** Returns a curl command that streams the changes of a collection after a position. */
export const followWithCurl = (collectionRef: CollectionRef, origin: string, after: string) =>
  `curl -N -H "Authorization: Bearer $TOKEN" -H 'Accept: text/event-stream' ${shellQuote(
    changesUrl(collectionRef, origin, after),
  )}`

/** Returns JavaScript that follows the changes of a collection after a position. */
export const followWithJavaScript = (
  collectionRef: CollectionRef,
  origin: string,
  after: string,
) => `let after = '${after}' // store it with what you do with the changes
const headers = { Authorization: \`Bearer \${process.env.TOKEN}\`, Prefer: 'wait=30' }
for (;;) {
  const response = await fetch(\`${changesUrl(collectionRef, origin, `\${after}`)}\`, { headers })
  if (!response.ok) throw new Error(await response.text())
  for (const { position, id, change, document } of await response.json()) {
    console.log(change, id, document)
    after = position
  }
}`
