import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { tabStorage } from '../shared/browser-storage.ts'
import { createStore } from '../ui/store.ts'

/** A policy that is tried: the previous one returns unless the trial is confirmed. */
export interface PolicyTrial {
  readonly id: string
  readonly endpoint: string
  /** When the previous policy returns, ms since 1970. */
  readonly until: number
  readonly before: Policy | null
}

/** The key of the trial in the storage of the tab. */
export const TRIAL_KEY = 'gatehouse-policy-trial'

/** The trial that this tab began. It survives a reload of the page. */
export const trialStore = createStore(tabStorage.getJson(TRIAL_KEY) as PolicyTrial | undefined)
