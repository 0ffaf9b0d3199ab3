import { NoResponse } from '../../api/client.ts'
import { createStore, useStore } from '../../ui/store.ts'

/** A change that a form requests, in words: "Document one", "saved". */
export interface RequestedChange {
  readonly what: string
  readonly done: string
}

/** A change that failed after its form was closed. */
export interface FailureReport {
  /** What was not changed. */
  readonly what: string
  readonly text: string
  readonly reason: string
  /** The URL of the form, which restores its input. */
  readonly formUrl: string
}

const reports = createStore<readonly FailureReport[]>([])

/** Returns the reports that have not been closed, oldest first. */
export const useFailureReports = (): readonly FailureReport[] => useStore(reports)

/** Reports on every page that a change failed after its form was closed. */
export function reportFailure(change: RequestedChange, error: Error, formUrl: string): void {
  const { what } = change
  closeReport(what)
  const report = { what, text: describeFailure(change, error), reason: error.message, formUrl }
  reports.set([...reports.get(), report])
}

/** Returns a sentence that says that a change was not made, or may not have been made. */
export function describeFailure({ what, done }: RequestedChange, error: Error): string {
  const outcome = error instanceof NoResponse ? 'may not have been' : 'was not'
  return `${what} ${outcome} ${done}.`
}

/** Closes the report about this, if there is one. */
export function closeReport(about: string): void {
  const now = reports.get()
  if (now.some(({ what }) => what === about)) reports.set(now.filter(({ what }) => what !== about))
}
