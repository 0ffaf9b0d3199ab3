import { lazy, Suspense } from 'react'
import { useKeys } from '../keys/use-keys.ts'
import { useUndo } from './use-undo.ts'

const load = () => import('./undo-bar.tsx')
const UndoBar = lazy(async () => ({ default: (await load()).UndoBar }))

/**
 * Loads the bar before it is needed: once one's own endpoint is removed, nothing can be loaded
 * through it any more. Settles when it is there, or cannot be had; a fault waits for the use.
 */
export async function preloadUndo(): Promise<void> {
  await load().catch(() => {})
}

/** Where the undo of a removal stands, on whatever page one has gone on to; Ctrl/⌘ Z takes it. */
export function UndoPlace() {
  const { now, takeBack } = useUndo()
  const open = now?.stage === 'offered' || now?.stage === 'failed'
  useKeys('table', {
    undo: ({ target }) => {
      // In a field the keys take back what was typed.
      if (!open || (target instanceof HTMLElement && target.matches(FIELD))) return false
      void takeBack()
      return true
    },
  })
  if (now === undefined) return null
  return (
    <Suspense>
      <UndoBar now={now} onTakeBack={() => void takeBack()} />
    </Suspense>
  )
}

const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]'
