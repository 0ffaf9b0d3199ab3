import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { closeReport, type RequestedChange, reportFailure } from './failure-store.ts'

/**
 * Returns a function to call when a form or dialog requests a change. It returns a function to call
 * if the change fails, which reports the failure if the form was closed.
 */
export function useFailureReporter() {
  const { history } = useRouter()
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  return (change: RequestedChange) => {
    const formUrl = history.location.href
    closeReport(change.what)
    return (error: Error) => {
      if (!isOpen.current) reportFailure(change, error, formUrl)
    }
  }
}
