import { X509Certificate } from 'node:crypto'
import { POLICY_RANGES, type Policy, type PolicyInput } from '../contract/endpoints/policy.ts'
import { Failure } from '../failure.ts'
import { isIpRange } from '../ip-ranges.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'
import {
  confirmTrial,
  expirePolicies,
  type PolicyWrite,
  readPolicy,
  type StoredPolicy,
  writePolicy,
} from './stored-policies.ts'

/** The endpoints of this node, as far as policies concern them (`endpoints/registry`). */
export interface PolicyEndpoints {
  setPolicy(
    address: string,
    policy: Policy | null,
    actor: Caller,
    write: (guard?: (trx: Change) => Promise<void>) => Promise<StoredPolicy | undefined>,
  ): Promise<StoredPolicy | undefined>
  apply(address: string): Promise<void>
  due(now: number): string[]
}

export interface PoliciesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly endpoints: PolicyEndpoints
  /** Checks in the transaction that certificates exist. Throws `conflict`. */
  readonly requireStored: (trx: Change, certificates: readonly string[]) => Promise<void>
  /** Returns the time by the clock of the database, ms since 1970. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

export type Policies = ReturnType<typeof createPolicies>

/** Interval at which the times in policies are checked, ms: an endpoint closes within a second. */
const CHECK_INTERVAL = 250

/** Creates the changes of policies of endpoints (docs/decisions/0040-policies.md). */
export function createPolicies(deps: PoliciesDeps) {
  const { store, record, endpoints, now, onError } = deps
  async function expire(addresses?: readonly string[]): Promise<void> {
    for (const address of await expirePolicies(store, record, now(), addresses)) {
      await endpoints.apply(address)
    }
  }
  return {
    /**
     * Stores a policy and applies it; null removes it.
     *
     * @param trySeconds restores the previous policy after this time, unless the trial is confirmed.
     * @throws Failure `bad-parameter`, `conflict`, `precondition-failed`.
     */
    set(
      address: string,
      policy: Policy | null,
      actor: Caller,
      expected: PolicyWrite['expected'],
      trySeconds?: number,
    ): Promise<StoredPolicy | undefined> {
      const tryUntil = trySeconds === undefined ? undefined : now() + trySeconds * 1000
      return endpoints.setPolicy(address, policy, actor, (guard) =>
        writePolicy(store, record, {
          address,
          policy,
          actor,
          expected,
          tryUntil,
          guard,
          requireStored: deps.requireStored,
        }),
      )
    },
    /**
     * Stores a policy that an export or the audit log contains. A closing time that has passed is
     * dropped. `undo` restores the policy before.
     *
     * @throws Failure as {@link set}.
     */
    async restore(
      address: string,
      policy: Policy | null,
      actor: Caller,
      expected?: PolicyWrite['expected'],
    ) {
      const before = await readPolicy(store.db, address)
      const { closesAt, ...rest } = policy ?? {}
      const isOver = closesAt !== undefined && Date.parse(closesAt) <= now()
      const restored = policy && isOver ? rest : policy
      const after = await this.set(address, restored, actor, expected)
      const isChanged = after?.revision !== before?.revision
      return {
        isChanged,
        undo: async () => {
          if (isChanged) await this.set(address, before?.policy ?? null, actor, undefined)
        },
      }
    },
    /**
     * Keeps a policy that is being tried.
     *
     * @throws Failure `not-found`
     */
    async confirm(id: string, actor: Caller): Promise<void> {
      const address = await confirmTrial(store, record, id, actor)
      if (address === undefined) {
        throw new Failure(
          'not-found',
          'The trial has ended and the previous policy applies, or another session began it.',
        )
      }
      await endpoints.apply(address)
    },
    /** Makes the changes that became due while no node was running. Called before endpoints open. */
    expire: () => expire(),
    /** Makes changes when they are due. Returns a function that stops it. */
    watch(): () => void {
      let isRunning = false
      const timer = setInterval(() => {
        const due = isRunning ? [] : endpoints.due(now())
        if (due.length === 0) return
        isRunning = true
        expire(due)
          .catch(onError)
          .finally(() => {
            isRunning = false
          })
      }, CHECK_INTERVAL)
      return () => clearInterval(timer)
    },
  }
}

/**
 * Checks what depends on the address, and what the schema does not check: ranges of addresses, and
 * the certificates that issue client certificates.
 *
 * @throws Failure `bad-parameter`
 */
export function requireValidPolicy(policy: Policy, address: string): void {
  requireValidTls(policy, address)
  for (const field of ['allow', 'deny'] as const) {
    const ranges = policy[field]
    if (ranges === undefined) continue
    if (address.startsWith('unix:')) {
      throw invalid(field, 'Clients of a Unix socket have no IP address.')
    }
    const at = ranges.findIndex((range) => !isIpRange(range))
    if (at !== -1) {
      const range = JSON.stringify(ranges[at])
      throw invalid(`${field}/${at}`, `${range} is not an IP address or a CIDR range.`)
    }
  }
  if ((policy.allow?.length ?? 0) + (policy.deny?.length ?? 0) > POLICY_RANGES) {
    throw invalid('allow', 'allow and deny have more than 1,000 addresses together.')
  }
}

function requireValidTls({ tls }: Policy, address: string): void {
  if (tls === undefined) return
  if (!address.startsWith('ssl:')) {
    throw invalid(
      'tls',
      'Only ssl endpoints have certificates. Use an address such as ssl://0.0.0.0:443.',
    )
  }
  const { clientAuth } = tls
  if (clientAuth === undefined) return
  const begin = '-----BEGIN CERTIFICATE-----'
  const texts = clientAuth.ca.split(begin).slice(1)
  if (texts.length > 0 && texts.every((text) => isCertificate(begin + text))) return
  throw invalid('tls/clientAuth/ca', 'The text must be one or more certificates in PEM.')
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca
  } catch {
    return false
  }
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Returns the policy of a request: checks its addresses, and computes `closesAt` from `closesIn`.
 *
 * @param address canonical.
 * @param now ms since 1970.
 * @throws Failure `bad-parameter`
 */
export function parsePolicy(
  { closesIn, ...policy }: PolicyInput,
  address: string,
  now: number,
): Policy {
  requireValidPolicy(policy, address)
  if (closesIn !== undefined && policy.closesAt !== undefined) {
    throw invalid('closesIn', 'Send either closesAt or closesIn.')
  }
  const { closesAt } = policy
  if (closesIn === undefined && closesAt === undefined) return policy
  const closes = closesAt !== undefined ? Date.parse(closesAt) : now + durationOf(closesIn ?? '')
  if (closes <= now) throw invalid('closesAt', 'closesAt is in the past.')
  return { ...policy, closesAt: new Date(closes).toISOString() }
}

const durationOf = (text: string): number =>
  Number.parseInt(text, 10) * UNITS[text.slice(-1) as keyof typeof UNITS]

const invalid = (field: string, message: string) =>
  new Failure('bad-parameter', message, { field: `/${field}` })
