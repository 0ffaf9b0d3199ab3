import { lazy, Suspense, useEffect } from 'react'
import { useUndo } from './use-undo.ts'

const load = () => import('./undo-bar.tsx')
const UndoBar = lazy(async () => ({ default: (await load()).UndoBar }))

/**
 * Loads the bar before it is needed: once one's own endpoint is removed, nothing can be loaded
 * through it any more. Faults wait for the use.
 */
export function preloadUndo(): void {
  load().catch(() => {})
}

/** Where the undo of a removal stands, on whatever page one has gone on to; Ctrl/⌘ Z takes it. */
export function UndoPlace() {
  const { now, takeBack } = useUndo()
  const open = now?.stage === 'offered' || now?.stage === 'failed'
  useEffect(() => {
    if (!open) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey)) return
      if (event.shiftKey || event.altKey || isTakenBack(event.target)) return
      event.preventDefault()
      void takeBack()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [open, takeBack])
  if (now === undefined) return null
  return (
    <Suspense>
      <UndoBar now={now} onTakeBack={() => void takeBack()} />
    </Suspense>
  )
}

const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea'

/** In a field the keys take back what was typed, and a dialog stands before the page. */
const isTakenBack = (target: EventTarget | null): boolean =>
  (target instanceof HTMLElement && (target.isContentEditable || target.matches(FIELD))) ||
  document.querySelector('[role="dialog"]') !== null
