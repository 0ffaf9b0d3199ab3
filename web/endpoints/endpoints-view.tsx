import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useMay } from '../person.ts'
import { databasesQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { copyText } from '../ui/copy-text.ts'
import { Notice } from '../ui/notice.tsx'
import { useFilterText } from '../ui/use-filter-text.ts'
import { useLittleRoom } from '../ui/use-little-room.ts'
import { EndpointCounts } from './endpoint-counts.tsx'
import { textsOf, withState } from './endpoint-filter.ts'
import { EndpointFilterField } from './endpoint-filter-field.tsx'
import { EndpointList } from './endpoint-list.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { readSort, TRAFFIC_COLUMNS, writeSort } from './endpoint-sort.ts'
import { EndpointTable } from './endpoint-table.tsx'
import classes from './endpoints-view.module.css'
import { findRow } from './find-row.ts'
import type { LiveFigures } from './live-figures.ts'
import { NoMatch } from './no-match.tsx'
import { OrderNotice } from './order-notice.tsx'
import { preloadForms } from './row-dialogs.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { preloadSeveral, SeveralPlace } from './several-place.tsx'
import foot from './table-foot.module.css'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useListenerActions } from './use-listener-actions.ts'
import { useSelection } from './use-selection.ts'
import { useShownRows } from './use-shown-rows.ts'
import { yourEndpoint } from './ways-in.ts'

const EndpointMenu = lazy(async () => ({
  default: (await import('./endpoint-menu.tsx')).EndpointMenu,
}))

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

const copy = async ({ address }: EndpointRow) =>
  announce((await copyText(address)) ? `${address} was copied.` : `${address} was not copied.`)

/**
 * Windows in which the page makes room for the panel, and has none left for every column: below, the
 * panel covers the page. In step with side-panel.module.css.
 */
const BESIDE = '(min-width: 1400px) and (max-width: 1759px)'

/** What {@link EndpointsView} shows. */
export interface EndpointsViewProps {
  readonly rows: readonly EndpointRow[]
  readonly figures: LiveFigures
  /** When it was read last, ms since 1970. */
  readonly readAt: number
  /** Reads the figures of all rows anew. */
  readonly readFigures: () => Promise<unknown>
}

/** Counts, filter and the rows that pass it, as a table or, on a narrow screen, as a list. */
export function EndpointsView({ rows, figures, readAt, readFigures }: EndpointsViewProps) {
  const where = useEndpointsLocation()
  const { search, add, edit, remove, open } = where
  const { data: databases } = useQuery(databasesQuery)
  const { retry, cut, problem } = useListenerActions()
  const mayChange = useMay('operator')
  const [menu, setMenu] = useState<{ id: string; button: HTMLElement }>()
  const narrow = useLittleRoom()
  const wide = useMediaQuery('(min-width: 1280px)', undefined, { getInitialValueInEffect: false })
  const squeezed = useMediaQuery(BESIDE, undefined, { getInitialValueInEffect: false })
  const coarse = useMediaQuery('(pointer: coarse)', undefined, { getInitialValueInEffect: false })

  const beside = squeezed && search.open !== undefined

  const [text, filter] = useFilterText('/endpoints')
  const sort = useMemo(() => readSort(search.sort), [search.sort])
  const byTraffic = TRAFFIC_COLUMNS.includes(sort.column)
  const { shown, headOf, fresh, moved, settle } = useShownRows(rows, {
    filter: text,
    sort,
    onSort: (next) => {
      where.sort(writeSort(next))
      // Rows out of sight have the figures of their last reading: a click asks for today's.
      if (TRAFFIC_COLUMNS.includes(next.column)) void readFigures()
    },
  })
  const selection = useSelection(rows, shown)
  const { selected } = selection
  const here = useMemo(() => hereAmong(rows), [rows])
  // What a viewer may not is not offered.
  const changes = mayChange
    ? {
        add,
        edit: ({ address }: EndpointRow) => edit(address),
        remove: ({ address }: EndpointRow) => remove(address),
      }
    : undefined
  const menuRow = menu && rows.find(({ id }) => id === menu.id)
  const shows = {
    rows: shown,
    here,
    databases,
    figures,
    menuOf: menu?.id,
    panelOf: search.open,
    onMenu: useCallback((row: EndpointRow, button: HTMLElement) => {
      preloadForms()
      setMenu({ id: row.id, button })
    }, []),
    actions: {
      copy,
      open: ({ address }: EndpointRow) => open(address),
      tryIt: ({ address }: EndpointRow) => {
        open(address)
        showTryIt()
      },
      ...changes,
    },
    selection: mayChange ? selected : undefined,
    onSelect: selection.onSelect,
    onSelectIndex: selection.onSelectIndex,
    // Whoever has just added one wants to see it, in its place.
    onLookFor: (id: string) => {
      if (fresh.some((row) => row.id === id)) settle()
    },
  }
  return (
    <>
      <div className={classes.bar}>
        <EndpointCounts
          rows={rows}
          filter={text}
          onChoose={(state) => filter(withState(text, state))}
        />
        <EndpointFilterField text={text} onChange={filter} onFocus={() => textsOf(rows)} />
      </div>
      <p role="alert" className={classes.problem}>
        {problem}
      </p>
      {shown.length > 0 &&
        (narrow ? (
          <EndpointList {...shows} />
        ) : (
          <EndpointTable
            {...shows}
            wide={wide && !beside}
            beside={beside}
            rowHeight={coarse ? 48 : 36}
            headOf={headOf}
            onSelectAll={selection.onSelectAll}
          />
        ))}
      {shown.length === 0 && text !== '' && (
        <NoMatch text={text} hidden={rows.length} onClear={() => filter('')} />
      )}
      {mayChange && rows.length === 1 && text === '' && <FirstStart own={here !== undefined} />}
      <div className={foot.foot}>
        {selected.size > 0 && (
          <SelectionBar
            count={selected.size}
            hidden={selection.hidden}
            onSeveral={(action) => {
              // How many connections a removal ends is told from figures of this moment.
              void readFigures()
              where.several(action)
            }}
            onIntent={preloadSeveral}
            onExport={async () => {
              const { exportEndpoints } = await import('./export-endpoints.ts')
              exportEndpoints(rows.filter(({ address }) => selected.has(address)))
            }}
            onClear={() => {
              selection.choose([])
              focusActiveRow()
            }}
          />
        )}
        <OrderNotice
          fresh={fresh.length}
          moved={moved}
          onShow={() => {
            settle()
            const [first] = fresh
            if (first !== undefined) findRow(first.id)?.focus()
          }}
          onSort={async () => {
            if (byTraffic) await readFigures()
            settle()
            focusActiveRow()
          }}
        />
        <p className={classes.asOf}>As of {clock.format(readAt)}.</p>
      </div>
      {mayChange && (
        <SeveralPlace
          rows={rows}
          selected={selected}
          here={here}
          onLeft={selection.choose}
          returnTo={activeRow}
        />
      )}
      {menu !== undefined && menuRow !== undefined && (
        <Suspense>
          <EndpointMenu
            row={menuRow}
            button={menu.button}
            onClose={() => setMenu(undefined)}
            onCopy={copy}
            changes={
              changes && {
                onEdit: changes.edit,
                onRetry: ({ address }) => retry(address),
                onCut: ({ address }) => cut(address),
                onRemove: changes.remove,
              }
            }
          />
        </Suspense>
      )}
    </>
  )
}

/** Brings the part of the panel with the commands into sight, once it is there. */
function showTryIt(tries = 120): void {
  const parts = [...document.querySelectorAll<HTMLElement>('[data-panel] h3')]
  const part = parts.find(({ textContent }) => textContent === 'Try it')
  if (part !== undefined) {
    part.tabIndex = -1
    part.scrollIntoView({ block: 'start' })
    part.focus({ preventScroll: true })
  } else if (tries > 0) requestAnimationFrame(() => showTryIt(tries - 1))
}

/** The row that takes part in the order of Tab. */
const activeRow = () => document.querySelector<HTMLElement>('[data-row][tabindex="0"]')

/** The button that was pressed goes: the focus goes to the rows. */
const focusActiveRow = () => setTimeout(() => activeRow()?.focus())

/** The endpoint through which this page came, among those of its port: few, where there are many. */
function hereAmong(rows: readonly EndpointRow[]): string | undefined {
  const port = location.port || (location.protocol === 'https:' ? '443' : '80')
  const addresses = rows.flatMap(({ address, databases }) =>
    databases !== null && address.endsWith(`:${port}`) ? address : [],
  )
  return yourEndpoint(location, addresses)
}

function FirstStart({ own }: { own: boolean }) {
  return (
    <Notice>
      One endpoint so far{own && ', the one you came through'}. Add another to open a port for your
      data.
    </Notice>
  )
}
