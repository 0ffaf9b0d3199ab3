import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useMay } from '../person.ts'
import { databasesQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { copyText } from '../ui/copy-text.ts'
import { Notice } from '../ui/notice.tsx'
import { EndpointCounts } from './endpoint-counts.tsx'
import { noMatchSentence, parseFilter, passes, withState } from './endpoint-filter.ts'
import { EndpointList } from './endpoint-list.tsx'
import { EndpointMenu } from './endpoint-menu.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { EndpointTable } from './endpoint-table.tsx'
import classes from './endpoints-view.module.css'
import { FilterField } from './filter-field.tsx'
import { preloadForms } from './row-dialogs.tsx'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useListenerActions } from './use-listener-actions.ts'
import { yourEndpoint } from './ways-in.ts'

const copy = async ({ address }: EndpointRow) =>
  announce((await copyText(address)) ? `${address} was copied.` : `${address} was not copied.`)

/** Counts, filter and the rows that pass it, as a table or, on a narrow screen, as a list. */
export function EndpointsView({ rows }: { rows: readonly EndpointRow[] }) {
  const { search, filter, add, edit, remove } = useEndpointsLocation()
  const { data: databases } = useQuery(databasesQuery)
  const { retry, cut, problem } = useListenerActions()
  const mayChange = useMay('operator')
  const [menu, setMenu] = useState<{ id: string; button: HTMLElement }>()
  const narrow = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const wide = useMediaQuery('(min-width: 1280px)', undefined, { getInitialValueInEffect: false })

  const text = search.q ?? ''
  const shown = useMemo(() => {
    const parsed = parseFilter(text)
    return rows.filter((row) => passes(parsed, row))
  }, [rows, text])
  const here = yourEndpoint(
    location,
    rows.flatMap(({ address, databases }) => (databases === null ? [] : address)),
  )
  // What a viewer may not is not offered.
  const changes = mayChange
    ? {
        add,
        edit: ({ address }: EndpointRow) => edit(address),
        remove: ({ address }: EndpointRow) => remove(address),
      }
    : undefined
  const menuRow = rows.find(({ id }) => id === menu?.id)
  const table = {
    rows: shown,
    here,
    databases,
    menuOf: menu?.id,
    onMenu: useMemo(
      () => (row: EndpointRow, button: HTMLElement) => {
        preloadForms()
        setMenu({ id: row.id, button })
      },
      [],
    ),
    keys: { copy, ...changes },
  }
  return (
    <>
      <div className={classes.bar}>
        <EndpointCounts
          rows={rows}
          filter={text}
          onChoose={(state) => filter(withState(text, state))}
        />
        <FilterField text={text} onChange={filter} />
      </div>
      <p role="alert" className={classes.problem}>
        {problem}
      </p>
      {shown.length > 0 &&
        (narrow ? (
          <EndpointList {...table} />
        ) : (
          <EndpointTable {...table} room={{ chips: wide ? 3 : 1 }} />
        ))}
      {shown.length === 0 && text !== '' && (
        <Notice
          action={
            <Button variant="default" onClick={() => filter('')}>
              Clear filters
            </Button>
          }
        >
          {noMatchSentence(text, rows.length)}
        </Notice>
      )}
      {mayChange && rows.length === 1 && text === '' && <FirstStart own={here !== undefined} />}
      {menu !== undefined && menuRow !== undefined && (
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
      )}
    </>
  )
}

function FirstStart({ own }: { own: boolean }) {
  return (
    <Notice>
      One endpoint so far{own && ', the one you came through'}. Add another to open a port for your
      data.
    </Notice>
  )
}
