import { Button, CloseButton, FocusTrap } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useRef } from 'react'
import { useKeys } from '../../keys/use-keys.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { LoadFailure } from '../../ui/load-failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton-rows.tsx'
import { useLittleRoom } from '../../ui/use-little-room.ts'
import { findRow } from '../find-row.ts'
import classes from './endpoint-panel.module.css'
import { PanelBody } from './panel-body.tsx'
import { usePanelEndpoint } from './use-panel-endpoint.ts'

/** What an {@link EndpointPanel} is of. */
export interface EndpointPanelProps {
  readonly address: string
  /** Asked by Esc and the cross: the panel is a URL, so closing it is going elsewhere. */
  readonly onClose: () => void
}

/**
 * All that is known of one endpoint, beside the table: it blocks nothing there. On a narrow screen it
 * fills it, and holds the focus.
 */
export function EndpointPanel({ address, onClose }: EndpointPanelProps) {
  const narrow = useLittleRoom()
  const title = useRef<HTMLHeadingElement>(null)
  const id = useId()
  useFocus(title, address)
  useKeys('anywhere', { close: () => !isSomethingOnTop() && onClose() })
  const closeByKey = (event: KeyboardEvent) => {
    if (!narrow || event.key !== 'Escape' || event.defaultPrevented || isSomethingOnTop()) return
    event.preventDefault()
    onClose()
  }
  return (
    <FocusTrap active={narrow}>
      <div
        role="dialog"
        aria-labelledby={id}
        aria-modal={narrow || undefined}
        className={classes.panel}
        data-panel
        onKeyDown={closeByKey}
      >
        <div className={classes.head}>
          <h2 id={id} ref={title} tabIndex={-1} data-autofocus className={`mono ${classes.title}`}>
            {address}
          </h2>
          <CopyButton text={address} />
          <CloseButton size={24} iconSize={16} aria-label="Close the panel" onClick={onClose} />
        </div>
        <div className={classes.body}>
          <Content key={address} address={address} onClose={onClose} />
        </div>
      </div>
    </FocusTrap>
  )
}

/** What is known of one endpoint; another begins anew. */
function Content({ address, onClose }: EndpointPanelProps) {
  const { endpoint, failure, retry } = usePanelEndpoint(address)
  if (endpoint) return <PanelBody endpoint={endpoint} onClose={onClose} />
  if (failure !== null) return <LoadFailure what="The endpoint" error={failure} onRetry={retry} />
  if (endpoint === undefined) return <SkeletonRows what="the endpoint" />
  return (
    <Notice
      action={
        <Button variant="default" onClick={onClose}>
          Back to the list
        </Button>
      }
    >
      There is no endpoint {address}. It was removed, or never was.
    </Notice>
  )
}

/** A menu or a list that is open closes first. */
const isSomethingOnTop = () => document.querySelector('[role="menu"], [role="listbox"]') !== null

/** Takes the focus when it opens, and gives it to the row of its endpoint when it closes. */
function useFocus(title: React.RefObject<HTMLHeadingElement | null>, address: string): void {
  const latest = useRef(address)
  latest.current = address
  useEffect(() => {
    const opener = document.activeElement
    title.current?.focus({ preventScroll: true })
    return () => {
      // After the page has drawn itself without the panel, and only where the focus was in it.
      setTimeout(() => {
        const now = document.activeElement
        if (now !== document.body && now !== null) return
        const back = opener instanceof HTMLElement && opener.isConnected ? opener : null
        const target = findRow(latest.current) ?? back ?? document.querySelector('main')
        if (target instanceof HTMLElement) target.focus({ preventScroll: true })
      })
    }
  }, [title])
}
