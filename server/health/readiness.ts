/** Whether this node is to be sent requests, and if not, why. */
export interface Readiness {
  /** The reason why not, for people; `null` when it is ready. */
  reason: string | null
}
