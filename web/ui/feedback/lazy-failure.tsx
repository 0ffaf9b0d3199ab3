import { Button } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { announce } from '../announce.tsx'
import { Notice } from './notice.tsx'

/**
 * Reports that code of the console failed to load, and whether the server is unreachable or may
 * have a newer version. Offers a reload only after the server has responded, because the browser
 * would otherwise replace the page with its own error page. Form drafts survive the reload.
 */
export function LazyFailure({ heading }: { heading?: string | undefined }) {
  const [state, setState] = useState<keyof typeof reasons>('checking')
  const check = useCallback(async () => {
    setState('checking')
    const responds = await doesRespond()
    setState(responds ? 'reachable' : 'unreachable')
    return responds
  }, [])
  useEffect(() => {
    void check()
  }, [check])
  useEffect(() => {
    if (state !== 'unreachable') return
    const timer = setInterval(async () => {
      if (await doesRespond()) setState('returned')
    }, CHECK_MS)
    return () => clearInterval(timer)
  }, [state])
  const tryAgain = async () => {
    if (await check()) location.reload()
    else announce('Gatehouse still does not respond.')
  }
  return (
    <>
      {heading !== undefined && <h1>{heading}</h1>}
      <Notice
        failed
        action={
          state === 'reachable' || state === 'returned' ? (
            <Button variant="filled" onClick={() => location.reload()}>
              Reload
            </Button>
          ) : (
            <Button variant="filled" loading={state === 'checking'} onClick={tryAgain}>
              Try again
            </Button>
          )
        }
      >
        This part of the console could not be loaded. {reasons[state]}
      </Notice>
    </>
  )
}

const reasons = {
  checking: '',
  unreachable: 'Gatehouse does not respond. Input in forms is kept.',
  returned: 'Gatehouse responds again. Input in forms is kept.',
  reachable: 'Reload the page. A new version may be available.',
} as const

/** Interval of the requests that find out whether the server responds again, ms. */
const CHECK_MS = 5_000

/** Timeout for the request in ms. */
const RESPONSE_MS = 15_000

/** Resolves to whether the server responds to a request for this page. */
const doesRespond = () =>
  fetch(location.pathname, {
    method: 'HEAD',
    cache: 'no-store',
    signal: AbortSignal.timeout(RESPONSE_MS),
  }).then(
    () => true,
    () => false,
  )
