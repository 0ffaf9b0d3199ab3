import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { announce } from '../ui/feedback/announce.tsx'

/** What an import needs while it sends its source. */
export interface ImportControl {
  readonly signal: AbortSignal
  /** Called with the share of the source that the server has read, 0 to 1. */
  readonly onProgress: (share: number) => void
}

export interface CancellableImport {
  /** The share of the source that was sent, 0 to 1. */
  readonly share: number
  /** Whether the user wants to close the dialog, which would cancel the import. */
  readonly isLeaving: boolean
  readonly setLeaving: (isLeaving: boolean) => void
  readonly begin: () => ImportControl
  /** Call it when the import has ended. */
  readonly end: () => void
  readonly cancel: () => void
  readonly cancelAndClose: () => void
}

/**
 * Returns the state of an import that runs while its dialog is open. Leaving the page would end the
 * import, so the dialog and the browser ask first.
 *
 * @param close closes the dialog.
 */
export function useCancellableImport(close: () => void): CancellableImport {
  const [share, setShare] = useState(0)
  const [isLeaving, setLeaving] = useState(false)
  const running = useRef<AbortController>(undefined)
  useBlocker({
    shouldBlockFn: () => {
      setLeaving(running.current !== undefined)
      return running.current !== undefined
    },
    enableBeforeUnload: () => running.current !== undefined,
  })
  useEffect(() => () => running.current?.abort(), [])
  return {
    share,
    isLeaving,
    setLeaving,
    begin: () => {
      const controller = new AbortController()
      running.current = controller
      setShare(0)
      setLeaving(false)
      return { signal: controller.signal, onProgress: setShare }
    },
    end: () => {
      running.current = undefined
    },
    cancel: () => running.current?.abort(),
    cancelAndClose: () => {
      running.current?.abort()
      running.current = undefined
      announce('The import was cancelled.')
      close()
    },
  }
}
