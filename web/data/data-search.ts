/** URL search of the pages of databases and collections: the query, its position, and the open dialog. */
export interface DataSearch {
  /** Text that the names of the listed databases and collections contain. */
  readonly q?: string | undefined
  /** Conditions, such as `author=ada&year:gte=2000`; see `parseFilter`. */
  readonly filter?: string | undefined
  /** Fields to order by, such as `-year,title`. */
  readonly sort?: string | undefined
  /** The columns of the table; see `parseColumns`. */
  readonly columns?: string | undefined
  /** Set to any text if the documents that match are counted. */
  readonly count?: string | undefined
  /** Id to list documents after, in the order of ids. */
  readonly after?: string | undefined
  /** Position to continue at, in another order. */
  readonly cursor?: string | undefined
  /** The selected documents; see `parseSelected`. */
  readonly selected?: string | undefined
  /** Id of the document to show, edit, or delete. */
  readonly open?: string | undefined
  readonly edit?: string | undefined
  /** Id of the document, or name of the index, to delete. */
  readonly remove?: string | undefined
  /** Set to any text while the dialog that creates a document or an index is open. */
  readonly create?: string | undefined
  /** Set to any text while the import dialog or the delete-all dialog is open. */
  readonly import?: string | undefined
  readonly empty?: string | undefined
  /** The change of the selected documents whose dialog is open: `edit` or `delete`. */
  readonly bulk?: string | undefined
  /** Id of the job whose progress is shown. */
  readonly job?: string | undefined
  /** The dialog of a database that is open: `create`, `import` or `drop`. */
  readonly dialog?: string | undefined
}

/** The position of a page, as a parameter of the API: an id, or a cursor in another order. */
export type PagePosition = Pick<DataSearch, 'after' | 'cursor'>

const LIST = ['q', 'filter', 'sort', 'columns', 'count', 'after', 'cursor', 'selected'] as const
const DIALOGS = ['open', 'edit', 'remove', 'create', 'import', 'empty', 'bulk', 'job'] as const

/** Parses the URL search and drops unknown or invalid parameters. */
export const readDataSearch = (search: Record<string, unknown>): DataSearch =>
  pick(search, [...LIST, ...DIALOGS, 'dialog'])

/** Returns the search without an open dialog. */
export const withoutDialog = (search: DataSearch): DataSearch => pick({ ...search }, LIST)

/** Returns whether a dialog of documents is open. */
export const hasDialog = (search: DataSearch): boolean =>
  DIALOGS.some((key) => search[key] !== undefined)

/** Returns whether the panel of a document, or of a new one, is open. */
export const isPanelOpen = ({ open, edit, create }: DataSearch): boolean =>
  [open, edit, create].some((each) => each !== undefined)

const pick = (search: Record<string, unknown>, keys: readonly (keyof DataSearch)[]) =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = search[key]
      return typeof value === 'string' && value !== '' ? [[key, value]] : []
    }),
  ) as DataSearch
