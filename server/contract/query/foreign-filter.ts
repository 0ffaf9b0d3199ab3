/**
 * Filters and parameters of other servers as `name=value`, and what to write here: Django and
 * json-server, PostgREST, OData, CouchDB and others. Unlike those of `adviseParameter`, they can also
 * be names and values of documents.
 */
const FORMS: readonly (readonly [form: RegExp, ours: string])[] = [
  [/^(.+?)__?(eq|ne|gte?|lte?)=/, '$1:$2=…'],
  [/^(.+?)__?i?(?:like|contains)=/, '$1:contains=…'],
  [/^(.+?)__?i?starts_?with=/i, '$1:starts=…'],
  [/^(.+?)__i?exact=/, '$1=…'],
  [/^(.+?)__in=/, '$1:in=…'],
  [/^(.+?)__isnull=/, '$1:exists=false'],
  [/^([^=]+)=eq\./, '$1=…'],
  [/^([^=]+)=(gte?|lte?)\./, '$1:$2=…'],
  [/^([^=]+)=(?:neq|not)\./, '$1:ne=…'],
  [/^([^=]+)=i?like\./, '$1:contains=…'],
  [/^([^=]+)=in\.\(/, '$1:in=…'],
  [/^([^=]+)=cs\.\{/, '$1:contains=…'],
  [/^([^=]+)=is\.(null|true|false)$/, '$1=$2'],
  [/^(?:not\.)?(?:or|and)=\(/, 'year:in=… for several values of a field, and year:gte=…&title=…'],
  [/^(?:\$top|page_?size)=/i, 'limit=…'],
  [/^(?:\$orderby|(?:order|sort)_?by)=/i, 'sort=year, or sort=-year for the opposite order'],
  [/^descending=/, 'sort=-id'],
  [/^\$select=/, 'fields=title,author.name'],
  [/^(?:\$skip|starting_?after)=/i, 'after=…, or use the URL in the Link header'],
  [/^start_?key(?:_docid)?=/, 'id:gte=…'],
  [/^end_?key(?:_docid)?=/, 'id:lte=…'],
  [/^include_docs=/, 'nothing instead: the documents are returned'],
  [/^\$?expand=/, 'id:in=… in a query of the other collection'],
  [/^\$/, 'year:gte=2000, or title:contains=sea'],
]

/** Maximum length of a name that is compared with the forms. */
const NAME_LENGTH = 128

/**
 * Returns what to write instead of a filter by equality that has the form of another server, such as
 * `views_gte=5`; undefined for other filters.
 */
export function adviseFilter(name: string, value: string): string | undefined {
  if (name.length > NAME_LENGTH) return undefined
  // Long enough for each form.
  const text = `${name}=${value.slice(0, 16)}`
  for (const [form, ours] of FORMS) {
    const [found] = form.exec(text) ?? []
    if (found !== undefined) return found.replace(form, ours)
  }
  return undefined
}

/** A time whose `+` was sent without encoding, which means a space in a query string. */
const UNENCODED_TIME = /T\d\d:\d\d[\d:.]{0,13} \d\d:?\d\d/

/** Returns whether a value contains a time whose offset lost its `+`. */
export const hasUnencodedPlus = (value: string): boolean => UNENCODED_TIME.test(value)
