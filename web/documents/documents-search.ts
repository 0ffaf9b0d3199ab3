/** What the URL of the Documents page says: which part of a collection, and the dialog that is open. */
export interface DocumentsSearch {
  /** The id after which the page begins. */
  readonly after?: string
  /** `author=ada`: a field and the value it must have. */
  readonly filter?: string
  /** The id of the document that is shown, changed, or asked about before it is deleted. */
  readonly open?: string
  readonly edit?: string
  readonly remove?: string
  /** Anything: a document is being created. */
  readonly create?: string
  /** Anything: documents are being uploaded, or it is asked whether all are to be deleted. */
  readonly upload?: string
  readonly empty?: string
  /** The id of a job whose progress is shown. */
  readonly job?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export function readDocumentsSearch(search: Record<string, unknown>): DocumentsSearch {
  const text = (key: keyof DocumentsSearch) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return {
    ...text('after'),
    ...text('filter'),
    ...text('open'),
    ...text('edit'),
    ...text('remove'),
    ...text('create'),
    ...text('upload'),
    ...text('empty'),
    ...text('job'),
  }
}
