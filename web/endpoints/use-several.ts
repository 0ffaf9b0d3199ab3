import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { announce } from '../ui/announce.tsx'
import { endpointsQuery, listenersQuery } from './queries.ts'
import { changeOne, runSeveral, type SeveralOutcome, sayOutcome } from './run-several.ts'
import type { SeveralAction } from './selection-bar.tsx'
import type { SeveralPlan } from './several.ts'
import type { SeveralProps } from './several-place.tsx'
import { undo } from './undo.ts'
import { consoleUrl } from './ways-in.ts'

/** How far several changes have come: none begun, under way, or over. */
export interface SeveralProgress {
  readonly outcome: SeveralOutcome
  readonly over: boolean
}

/** Carries out a plan. What could not be done stays selected; what was removed can be taken back. */
export function useSeveral(
  action: SeveralAction,
  { here, onLeft, onDone }: Pick<SeveralProps, 'here' | 'onLeft'> & { onDone: () => void },
) {
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState<SeveralProgress>()
  const stopped = useRef(false)
  const open = useRef(true)
  useEffect(() => {
    open.current = true
    return () => {
      open.current = false
    }
  }, [])
  const run = async (plan: SeveralPlan) => {
    stopped.current = false
    setProgress({ outcome: { done: [], failures: [], left: plan.tasks }, over: false })
    const outcome = await runSeveral(plan.tasks, {
      change: (task) => changeOne(action, task),
      onProgress: (now) => setProgress({ outcome: now, over: false }),
      // Going back is stopping too.
      isStopped: () => stopped.current || !open.current,
    })
    const removed = outcome.done.map(({ record }) => record)
    const own = removed.some(({ endpoint }) => endpoint === here)
    const url = plan.wayOut && consoleUrl(plan.wayOut, location)
    if (action === 'remove' && own && here && plan.wayOut && url) {
      undo.leadOut({ removed: here, to: plan.wayOut, url })
    } else if (action === 'remove') undo.offer(removed)
    void queryClient.invalidateQueries({ queryKey: endpointsQuery.queryKey })
    void queryClient.invalidateQueries({ queryKey: listenersQuery.queryKey })
    onLeft([
      ...plan.kept.flatMap(({ address, fine }) => (fine ? [] : address)),
      ...outcome.failures.map(({ task }) => task.row.address),
      ...outcome.left.map(({ row }) => row.address),
    ])
    const whole = outcome.failures.length === 0 && outcome.left.length === 0
    const done = whole && plan.kept.every(({ fine }) => fine)
    // Otherwise the dialog says it.
    if (done || !open.current) announce(sayOutcome(action, outcome))
    if (done) onDone()
    else setProgress({ outcome, over: true })
  }
  return {
    progress,
    run,
    stop: () => {
      stopped.current = true
    },
  }
}
