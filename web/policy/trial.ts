import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { tabStorage } from '../shared/browser-storage.ts'
import { createStore } from '../ui/store.ts'

/** How long a policy is tried, s. */
export const TRIAL_SECONDS = 60

/** A policy that is tried: the previous one returns unless the trial is confirmed. */
export interface PolicyTrial {
  readonly id: string
  readonly endpoint: string
  /** When the previous policy returns, ms since 1970. */
  readonly until: number
  readonly before: Policy | null
}

const KEY = 'gatehouse-policy-trial'

/** The trial that this tab began. It survives a reload of the page. */
export const trialStore = createStore(tabStorage.getJson(KEY) as PolicyTrial | undefined)

/** Stores a trial, or ends it. */
export function setTrial(trial: PolicyTrial | undefined): void {
  if (trial === undefined) tabStorage.remove(KEY)
  else tabStorage.set(KEY, JSON.stringify(trial))
  trialStore.set(trial)
}
