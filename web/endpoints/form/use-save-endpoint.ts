import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { CurrentSession } from '../../../server/contract/access/session.ts'
import { isSignedOut } from '../../api/client.ts'
import { sessionQuery } from '../../api/queries.ts'
import { hasRole, type SignedIn, usePresence } from '../../api/session/person.ts'
import type { RequestedChange } from '../../shared/reports/failure-store.ts'
import { useFailureReporter } from '../../shared/reports/use-reported-mutation.ts'
import { describeRole } from '../../shared/session/role-labels.ts'
import { readEndpoint } from '../endpoint-requests.ts'
import { sameMapping } from '../model/mapping.ts'
import { refetchEndpoints } from '../queries.ts'
import { pause, type SaveStage, saveInSteps } from './save-steps.ts'

export interface EndpointSave {
  /** Describes the save in the report of a failure. */
  readonly change: RequestedChange
  readonly address: string
  readonly databases: readonly string[]
  /** Sends the change. */
  readonly send: () => Promise<void>
}

/** Delays between attempts, ms; the last one repeats. */
const RETRY_DELAYS_MS = [300, 600, 1_000, 2_000] as const

/**
 * Saves an endpoint. It waits while the server is unreachable, checks the result if the response is
 * lost, and refetches the endpoint before it reports success. Unmounting the form cancels a save that
 * was not sent; one that was sent continues, and its failure is reported in a bar.
 *
 * @param close closes the form. Called after a success, unless the form was closed before.
 */
export function useSaveEndpoint(close: () => void) {
  const queryClient = useQueryClient()
  const { person } = usePresence()
  const [stage, setStage] = useState<SaveStage>('idle')
  const cancel = useRef<() => void>(undefined)
  const isOpen = useRef(true)
  const report = useFailureReporter()
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
      cancel.current?.()
    }
  }, [])

  const save = async (
    { change, address, databases, send }: EndpointSave,
    callbacks: {
      /** Called once the change is applied, before the endpoint is refetched. */
      onApplied?: () => void
      onSuccess: () => void
      onError: (error: Error) => void
    },
  ) => {
    cancel.current?.()
    const controller = new AbortController()
    cancel.current = () => controller.abort()
    const onFailure = report(change)
    try {
      await saveInSteps({
        check: async () => {
          const freshSession = { ...sessionQuery, staleTime: 0, retry: false }
          const why = validateSession(person, await queryClient.fetchQuery(freshSession))
          if (why !== undefined) throw new Error(why)
        },
        send: () => {
          cancel.current = undefined
          return send()
        },
        wasApplied: async () => {
          const found = await readEndpoint(address)
          return found !== undefined && sameMapping(found.databases, databases)
        },
        pause: (tries) => pause(RETRY_DELAYS_MS[tries] ?? RETRY_DELAYS_MS[3], controller.signal),
        signal: controller.signal,
        onStage: (next) => {
          if (!controller.signal.aborted) setStage(next)
        },
      })
      callbacks.onApplied?.()
      await refetchEndpoints(queryClient, [address])
      callbacks.onSuccess()
      // Another form may be open by now.
      if (isOpen.current) close()
    } catch (error) {
      if (isSignedOut(error as Error)) queryClient.setQueryData(sessionQuery.queryKey, null)
      if (controller.signal.aborted) return
      if (isOpen.current) callbacks.onError(error as Error)
      else onFailure(error as Error)
    } finally {
      if (!controller.signal.aborted) setStage('idle')
    }
  }
  return {
    stage,
    save,
    /** Cancels a save that has not been sent. A save that was sent continues. */
    stopWaiting: () => {
      if (stage !== 'waiting') return
      cancel.current?.()
      setStage('idle')
    },
  }
}

/** Returns the status message of a save; `doing` is "added" or "saved". */
export function formatStage(stage: SaveStage, doing: 'added' | 'saved'): string | undefined {
  if (stage === 'waiting') {
    return `No connection to Gatehouse. The endpoint will be ${doing} when the connection returns.`
  }
  if (stage === 'unsure') {
    return `The connection failed. Checking whether the endpoint was ${doing}…`
  }
  return undefined
}

/**
 * Returns the reason why the current user cannot save a form that `me` opened, or `undefined`. All
 * tabs share the session cookie, so another user may have signed in since.
 */
export function validateSession(me: SignedIn, now: CurrentSession): string | undefined {
  if (now === null) return 'You are signed out. Sign in again, then save.'
  if (now.person.id !== me.id) {
    return `Not saved: ${now.person.username} is now signed in with this browser.`
  }
  if (hasRole(now.person, 'operator')) return undefined
  return `Not saved: you are now ${describeRole(now.person)}. Only operators and admins can change endpoints.`
}
