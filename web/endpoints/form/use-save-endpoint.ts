import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isSignedOut } from '../api.ts'
import { usePresence } from '../person.ts'
import { sessionQuery } from '../queries.ts'
import { type Condition, postEndpoint, readEndpoint } from './endpoint-requests.ts'
import { sameMapping } from './mapping.ts'
import { whyNotSave } from './may-save.ts'
import { readAgain } from './read-again.ts'
import { type SaveStage, saveInSteps } from './save-steps.ts'

/** An endpoint to be added, or to be mapped anew, and what must hold for that. */
export interface SavedEndpoint extends Condition {
  readonly address: string
  readonly databases: readonly string[]
}

/** Pauses between the tries of one that waits, ms; the last one repeats. */
const PAUSES_MS = [300, 600, 1_000, 2_000] as const

/** It was given up: the form was left, or what it saves was changed meanwhile. */
class GivenUp extends Error {}

/**
 * Saves an endpoint. It waits while there is no connection, and looks where an answer was lost; the
 * list is read anew before it is done. Left, the form gives up whatever waits.
 */
export function useSaveEndpoint() {
  const queryClient = useQueryClient()
  const { person } = usePresence()
  const [stage, setStage] = useState<SaveStage>('idle')
  const giveUp = useRef<() => void>(undefined)
  useEffect(() => () => giveUp.current?.(), [])

  const save = async (
    { address, databases, ...condition }: SavedEndpoint,
    told: { onSuccess: () => void; onError: (error: Error) => void },
  ) => {
    giveUp.current?.()
    const given = new AbortController()
    giveUp.current = () => given.abort()
    const record = { endpoint: address, databases: [...databases] }
    try {
      await saveInSteps({
        check: async () => {
          const wanted = { ...sessionQuery, staleTime: 0, retry: false }
          const why = whyNotSave(person, await queryClient.fetchQuery(wanted))
          if (why !== undefined) throw new Error(why)
        },
        send: () => postEndpoint(record, condition),
        look: async () => {
          const found = await readEndpoint(address)
          return found !== undefined && sameMapping(found.databases, record.databases)
        },
        pause: (tries) =>
          pause(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, given.signal),
        onStage: (next) => {
          if (!given.signal.aborted) setStage(next)
        },
      })
      await readAgain(queryClient, [address])
      if (!given.signal.aborted) told.onSuccess()
    } catch (error) {
      if (isSignedOut(error as Error)) queryClient.setQueryData(sessionQuery.queryKey, null)
      if (!given.signal.aborted) told.onError(error as Error)
    } finally {
      if (!given.signal.aborted) setStage('idle')
    }
  }
  return {
    stage,
    save,
    /** Stops one that waits for a connection: nothing was sent. One that was sent goes on. */
    stopWaiting: () => {
      if (stage !== 'waiting') return
      giveUp.current?.()
      setStage('idle')
    },
  }
}

const pause = (time: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (signal.aborted) reject(new GivenUp())
    const timer = setTimeout(resolve, time)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new GivenUp())
    })
  })

/** What the form says while a save is under way; `doing` is "added" or "saved". */
export function sayStage(stage: SaveStage, doing: 'added' | 'saved'): string | undefined {
  if (stage === 'waiting') {
    return `No connection to Gatehouse. It will be ${doing} as soon as there is one.`
  }
  if (stage === 'unsure') {
    return `The connection broke. We do not know whether it was ${doing}: looking…`
  }
  return undefined
}
