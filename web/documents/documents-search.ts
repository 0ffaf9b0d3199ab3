/**
 * URL search of the Documents page: the position in a collection, the filter, and the open dialog.
 */
export interface DocumentsSearch {
  /** Id to list documents after. */
  readonly after?: string
  /** Field and required value, such as `author=ada`. */
  readonly filter?: string
  /** Id of the document to show, edit, or delete. */
  readonly open?: string
  readonly edit?: string
  readonly remove?: string
  /** Set to any text while the create dialog is open. */
  readonly create?: string
  /** Set to any text while the upload dialog or the delete-all dialog is open. */
  readonly upload?: string
  readonly empty?: string
  /** Id of the job whose progress is shown. */
  readonly job?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
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
