/** Maximum number of documents to select one by one. A filter selects any number. */
const MAX_SELECTED = 500

/** Maximum length of the selected ids in the URL. Servers and proxies reject long URLs. */
const MAX_LENGTH = 8_000

/** The text for all documents that match the filter. An id is never formatted like this. */
export const ALL_SELECTED = '*'

/** Parses the ids of the selected documents, as {@link formatSelected} formats them. */
export const parseSelected = (text: string): string[] =>
  text === '' || text === ALL_SELECTED ? [] : text.split(',').flatMap(decode)

/** Formats the ids of the selected documents for the URL. */
export const formatSelected = (ids: readonly string[]): string => ids.map(encode).join(',')

/** Returns the first ids that can be selected together. */
export function fitSelected(ids: readonly string[]): readonly string[] {
  let length = 0
  const end = ids.slice(0, MAX_SELECTED).findIndex((id) => {
    // The URL encodes the text again, with the comma as three characters.
    length += encodeURIComponent(encode(id)).length + 3
    return length > MAX_LENGTH
  })
  return ids.slice(0, end < 0 ? MAX_SELECTED : end)
}

const encode = (id: string) => encodeURIComponent(id).replaceAll('*', '%2A')

function decode(part: string): string[] {
  try {
    return [decodeURIComponent(part)]
  } catch {
    return []
  }
}
