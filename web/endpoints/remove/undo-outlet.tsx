import { lazy, Suspense } from 'react'
import { useUndoKey } from '../../shared/keys/use-undo-key.ts'
import { useUndo } from './use-undo.ts'

const load = () => import('./endpoint-undo-bar.tsx')
const EndpointUndoBar = lazy(async () => ({ default: (await load()).EndpointUndoBar }))

/**
 * Loads the bar before a change that disconnects the page. Never rejects: a load error is reported
 * when the bar is shown.
 */
export async function preloadUndo(): Promise<void> {
  await load().catch(() => {})
}

/** Shows the undo bar on every page; Ctrl+Z or ⌘Z undoes. */
export function UndoOutlet() {
  const { now, takeBack } = useUndo()
  const open = now?.stage === 'offered' || now?.stage === 'failed'
  useUndoKey(open ? () => void takeBack() : undefined, now)
  if (now === undefined) return null
  return (
    <Suspense>
      <EndpointUndoBar now={now} onUndo={() => void takeBack()} />
    </Suspense>
  )
}
