import type { SelectRow } from '../../shared/keys/use-row-navigation.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { Selection } from '../model/list/selection.ts'
import type { LiveFigures } from '../model/live-figures.ts'
import type { RowActions } from './row/row-keys.ts'

/** The props that the table shares with the list for narrow screens. */
export interface EndpointRowsProps {
  readonly rows: readonly EndpointRow[]
  /** Address of the endpoint that serves this page. */
  readonly here: string
  /** The names of all databases; `undefined` until they are loaded. */
  readonly databases: readonly string[] | undefined
  readonly figures: LiveFigures
  /** The id of the row whose menu is open. */
  readonly menuOf: string | undefined
  /** The address of the endpoint in the panel. */
  readonly panelOf: string | undefined
  readonly onMenu: (row: EndpointRow, button: HTMLElement) => void
  readonly actions: RowActions
  /** `undefined` if rows cannot be selected. */
  readonly selection: Selection | undefined
  readonly onSelect: (row: EndpointRow, extend: boolean) => void
  readonly onSelectIndex: SelectRow
  readonly onSelectAll: () => void
  /** Called before a row gets the focus, with its id. */
  readonly onLookFor: (id: string) => void
}
