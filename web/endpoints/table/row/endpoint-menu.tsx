import { Menu } from '@mantine/core'
import { type Ref, useEffect } from 'react'
import {
  IconAdjustments,
  IconCopy,
  IconPencil,
  IconPlugConnected,
  IconPlugX,
  IconRefresh,
  IconTrash,
} from '../../../ui/icon/icons.tsx'
import { useEscape } from '../../../ui/overlay/use-escape.ts'
import { activeRow } from '../../../ui/table/active-row.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import classes from './endpoint-menu.module.css'

export interface EndpointMenuProps {
  readonly row: EndpointRow
  /** The button that opened the menu. It anchors the menu and gets the focus back. */
  readonly button: HTMLElement
  readonly onClose: () => void
  readonly onCopy: (row: EndpointRow) => void
  /** `undefined` if the role does not allow changes. */
  readonly changes: EndpointChanges | undefined
}

export interface EndpointChanges {
  readonly onEdit: (row: EndpointRow) => void
  readonly onChangePolicy: (row: EndpointRow) => void
  readonly onRetry: (row: EndpointRow) => void
  readonly onChangePort: (row: EndpointRow) => void
  readonly onCloseConnections: (row: EndpointRow) => void
  readonly onRemove: (row: EndpointRow) => void
}

/** The menu of a row. One instance serves all rows, because thousands of menus would be slow. */
export function EndpointMenu(props: EndpointMenuProps) {
  const { row, button, changes, onClose } = props
  const removed = row.databases === null
  const leave = () => {
    onClose()
    button.focus()
  }
  useEscape('dialog', leave)
  useEffect(
    () => () => {
      // The menu disappears with its row if someone else removes the endpoint.
      setTimeout(() => {
        if (document.activeElement === document.body) activeRow()?.focus()
      })
    },
    [],
  )
  // The focus returns to the button before the action may move it into a dialog.
  const act = (action: (row: EndpointRow) => void) => () => {
    onClose()
    button.focus()
    action(row)
  }
  return (
    <Menu
      opened
      onClose={leave}
      closeOnEscape={false}
      position="bottom-end"
      offset={4}
      width={208}
      returnFocus={false}
      // Rendered inside the main landmark. The first item takes the focus.
      withinPortal={false}
      floatingStrategy="fixed"
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <Anchor at={button.getBoundingClientRect()} name={`Actions for ${row.address}`} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item data-autofocus leftSection={<IconCopy />} onClick={act(props.onCopy)}>
          Copy address
        </Menu.Item>
        {changes !== undefined && !removed && (
          <>
            <Menu.Item leftSection={<IconAdjustments />} onClick={act(changes.onEdit)}>
              Edit mapping
            </Menu.Item>
            <Menu.Item leftSection={<IconPencil />} onClick={act(changes.onChangePolicy)}>
              Edit policy
            </Menu.Item>
          </>
        )}
        {changes !== undefined && row.state === 'failed' && (
          <Menu.Item leftSection={<IconRefresh />} onClick={act(changes.onRetry)}>
            Try now
          </Menu.Item>
        )}
        {changes && row.state === 'failed' && !row.address.startsWith('unix:') && (
          <Menu.Item leftSection={<IconPlugConnected />} onClick={act(changes.onChangePort)}>
            Change port…
          </Menu.Item>
        )}
        {changes !== undefined && removed && (
          <Menu.Item leftSection={<IconPlugX />} onClick={act(changes.onCloseConnections)}>
            Close connections now
          </Menu.Item>
        )}
        {changes !== undefined && !removed && (
          <>
            <Menu.Divider />
            <Menu.Item data-danger leftSection={<IconTrash />} onClick={act(changes.onRemove)}>
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

/** An invisible copy of the button that anchors the menu and carries its accessible name. */
function Anchor({ at, name, ref, id }: AnchorProps) {
  const { left, top, width, height } = at
  return (
    <span ref={ref} id={id} className={classes.anchor} style={{ left, top, width, height }}>
      <span className="visually-hidden">{name}</span>
    </span>
  )
}
