import type { EndpointChangeView } from '../../../server/contract/endpoints/endpoint-change.ts'

/** Returns a bulk change that made all its 100 changes, except for `part`. */
export const bulkChange = (part: Partial<EndpointChangeView> = {}): EndpointChangeView => ({
  id: 'x',
  state: 'done',
  actor: 'github:1',
  created: '',
  ended: '',
  total: 100,
  removals: 0,
  made: 100,
  unchanged: 0,
  failed: 0,
  left: 0,
  undoOf: null,
  undoneBy: null,
  ...part,
})
