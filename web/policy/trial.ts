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
export const trialStore = createStore<PolicyTrial | undefined>(readTrial())

export function beginTrial(trial: PolicyTrial): void {
  tabStorage.set(KEY, JSON.stringify(trial))
  trialStore.set(trial)
}

export function endTrial(): void {
  tabStorage.remove(KEY)
  trialStore.set(undefined)
}

function readTrial(): PolicyTrial | undefined {
  const stored = tabStorage.getJson(KEY) as Partial<PolicyTrial> | undefined
  return typeof stored?.id === 'string' && typeof stored.until === 'number'
    ? (stored as PolicyTrial)
    : undefined
}
