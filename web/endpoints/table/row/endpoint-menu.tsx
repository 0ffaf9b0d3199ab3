import { Menu } from '@mantine/core'
import { IconAdjustments, IconCopy, IconPlugX, IconRefresh, IconTrash } from '@tabler/icons-react'
import type { Ref } from 'react'
import classes from './endpoint-menu.module.css'
import type { EndpointRow } from './endpoint-rows.ts'

/** What {@link EndpointMenu} can do. */
export interface EndpointMenuProps {
  readonly row: EndpointRow
  /** The button it was opened by: it stands there, and gives the focus back to it. */
  readonly button: HTMLElement
  readonly onClose: () => void
  readonly onCopy: (row: EndpointRow) => void
  /** Left out where the role does not allow changes. */
  readonly changes: EndpointChanges | undefined
}

/** What can be changed of a row. */
export interface EndpointChanges {
  readonly onEdit: (row: EndpointRow) => void
  readonly onRetry: (row: EndpointRow) => void
  readonly onCut: (row: EndpointRow) => void
  readonly onRemove: (row: EndpointRow) => void
}

/** The one menu of the table, for whichever row asks: a menu for each would cost thousands. */
export function EndpointMenu(props: EndpointMenuProps) {
  const { row, button, changes, onClose } = props
  const icon = { size: 16, stroke: 1.5, 'aria-hidden': true } as const
  const removed = row.databases === null
  // The focus is back at the button before the action moves it, say into a dialog.
  const act = (action: (row: EndpointRow) => void) => () => {
    onClose()
    button.focus()
    action(row)
  }
  return (
    <Menu
      opened
      onClose={() => {
        onClose()
        button.focus()
      }}
      position="bottom-end"
      offset={4}
      width={208}
      returnFocus={false}
      // Within the page's main part, where a landmark holds it; the first item takes the focus.
      withinPortal={false}
      floatingStrategy="fixed"
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <Anchor at={button.getBoundingClientRect()} name={`Actions for ${row.address}`} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item data-autofocus leftSection={<IconCopy {...icon} />} onClick={act(props.onCopy)}>
          Copy address
        </Menu.Item>
        {changes !== undefined && !removed && (
          <Menu.Item leftSection={<IconAdjustments {...icon} />} onClick={act(changes.onEdit)}>
            Edit mapping
          </Menu.Item>
        )}
        {changes !== undefined && row.state === 'failed' && (
          <Menu.Item leftSection={<IconRefresh {...icon} />} onClick={act(changes.onRetry)}>
            Try now
          </Menu.Item>
        )}
        {changes !== undefined && removed && (
          <Menu.Item leftSection={<IconPlugX {...icon} />} onClick={act(changes.onCut)}>
            Close connections now
          </Menu.Item>
        )}
        {changes !== undefined && !removed && (
          <>
            <Menu.Divider />
            <Menu.Item
              data-danger
              leftSection={<IconTrash {...icon} />}
              onClick={act(changes.onRemove)}
            >
              Remove endpoint
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface AnchorProps {
  at: DOMRect
  name: string
  ref?: Ref<HTMLSpanElement>
  id?: string
}

/** Stands where the button is, so that the menu can; carries the name that the menu refers to. */
function Anchor({ at, name, ref, id }: AnchorProps) {
  const { left, top, width, height } = at
  return (
    <span ref={ref} id={id} className={classes.anchor} style={{ left, top, width, height }}>
      <span className="visually-hidden">{name}</span>
    </span>
  )
}
