import type { StoredDocument } from './repository/stored-documents.ts'

/** Returns the response with a document. */
export function documentResponse(
  { tag, body }: StoredDocument,
  status: 200 | 201,
  headers: Readonly<Record<string, string>>,
): Response {
  // Not `c.body`: it creates `Headers` if there are several, and node-server writes a plain object
  // faster. This would drop headers set by `c.header`; these routes set none.
  return new Response(body, { status, headers: { ETag: `"${tag}"`, ...headers } })
}
