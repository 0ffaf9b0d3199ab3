import { shellQuote } from '../../ui/text/shell-quote.ts'

/** Returns the command that downloads all documents at a URL of the API as NDJSON. */
export const toCurl = (url: string): string =>
  `curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/x-ndjson' ${shellQuote(url)}`

/** Returns JavaScript that reads all documents at a URL of the API. */
export const toFetch = (
  url: string,
): string => `const response = await fetch(${JSON.stringify(url)}, {
  headers: { Accept: 'application/x-ndjson', Authorization: \`Bearer \${token}\` },
})
const lines = (await response.text()).split('\\n').filter(Boolean)
const documents = lines.map((line) => JSON.parse(line))`
