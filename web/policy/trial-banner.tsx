import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, isSignedOut, requireOk } from '../api/client.ts'
import { useConnection } from '../api/live/live-provider.tsx'
import { useOwnEndpoint } from '../api/session/person.ts'
import { showToast } from '../shared/toast/toast.ts'
import { Banner } from '../ui/feedback/banner.tsx'
import { Countdown } from '../ui/feedback/countdown.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { WithName } from '../ui/text/with-name.tsx'
import { setTrial, useKeepTrial } from './policy-requests.ts'
import type { PolicyTrial } from './trial.ts'

/** Interval at which the page checks whether the tried policy locks it out, ms. */
const CHECK_MS = 2_000

/**
 * Counts down to the end of a trial, and offers to keep the policy. While the policy locks out this
 * page, it says when the previous one returns; then the page loads its data again.
 */
export function TrialBanner({ trial }: { trial: PolicyTrial }) {
  const { endpoint, until } = trial
  const queryClient = useQueryClient()
  const connection = useConnection()
  const isOver = useClock((now) => now >= until)
  const isLockedOut = useIsLockedOut(trial, isOver)
  const keep = useKeepTrial(trial)
  const { tryNow } = connection
  useEffect(() => {
    if (!isOver || isLockedOut || keep.isPending) return
    setTrial(undefined)
    tryNow()
    void queryClient.invalidateQueries()
    showToast({ text: `The previous policy of ${endpoint} has returned`, name: endpoint })
  }, [isOver, isLockedOut, keep.isPending, endpoint, queryClient, tryNow])
  return (
    <Banner role={isLockedOut ? 'alert' : 'status'}>
      <p>
        <WithName
          text={
            isLockedOut
              ? `With the policy that you try, this page cannot reach ${endpoint}.`
              : `Trying a policy of ${endpoint}:`
          }
          name={endpoint}
        />{' '}
        {/* Announced once, not on every tick of the countdown. */}
        <span aria-hidden="true">
          {isLockedOut ? 'The previous policy' : 'the previous one'} returns in{' '}
          <Countdown to={until} />.
        </span>
      </p>
      {!isLockedOut && (
        <Button
          variant="default"
          aria-disabled={keep.isPending || undefined}
          onClick={() => keep.mutate()}
        >
          Keep
        </Button>
      )}
    </Banner>
  )
}

/** Returns whether the tried policy rejects this page, if it applies to the page's endpoint. */
function useIsLockedOut({ id, endpoint }: PolicyTrial, isOver: boolean): boolean {
  const isHere = useOwnEndpoint() === endpoint
  const { data, refetch } = useQuery({
    queryKey: ['policy-trial', id],
    queryFn: async ({ signal }) => {
      try {
        await requireOk(api._api.session.$get({}, { init: { signal } }))
        return false
      } catch (error) {
        return !isSignedOut(error)
      }
    },
    enabled: isHere,
    refetchInterval: CHECK_MS,
    refetchIntervalInBackground: true,
    retry: false,
    staleTime: 0,
    gcTime: 0,
  })
  useEffect(() => {
    if (isOver && isHere) void refetch()
  }, [isOver, isHere, refetch])
  return isHere && data === true
}
