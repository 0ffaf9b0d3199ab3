import { lazy, Suspense } from 'react'
import type { Policy } from '../../../../server/contract/endpoints/policy.ts'
import type { CertificateWarningProps } from '../../../certificates/expiry.tsx'
import { labelRules, type RuleLabel, type RuleWord } from '../../../policy/rule-labels.ts'
import { OverflowNames } from '../../../ui/table/overflow-names.tsx'
import { exactTime } from '../../../ui/text/relative-time.tsx'
import { useClock } from '../../../ui/text/use-clock.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import classes from './rule-chips.module.css'

export interface RuleChipsProps {
  readonly policy: Policy
  /** The address of the endpoint. Without it, the chips do not warn of its certificates. */
  readonly address?: string
  /** Width in pixels for at most two chips; the rest is only counted. Default: all are shown. */
  readonly room?: number
  readonly tabIndex?: number
  /** Called when a chip is pressed. Without it, chips are not buttons. */
  readonly onFilter?: ((rule: RuleWord) => void) | undefined
}

// Most servers have no certificates. Without the code, chips have no warnings.
const CertificateWarning = lazy(async () => ({
  default: await import('../../../certificates/expiry.tsx').then(
    (module) => module.CertificateWarning,
    () =>
      ({ children }: CertificateWarningProps) =>
        children(''),
  ),
}))

/** Shows the rules of an endpoint that differ from the defaults, most important first. */
export function RuleChips(props: RuleChipsProps) {
  const { policy, address = '' } = props
  const withWarning = (warning: string) => <Chips {...props} warning={warning} />
  if (!isTls(address)) return withWarning('')
  return (
    <Suspense fallback={withWarning('')}>
      <CertificateWarning names={policy.tls?.certificates}>{withWarning}</CertificateWarning>
    </Suspense>
  )
}

function Chips(props: RuleChipsProps & { warning: string }) {
  const { policy, room, tabIndex, onFilter, warning } = props
  // Only the time until a removal changes.
  const now = useClock((time) => (policy.closesAt === undefined ? 0 : time - (time % 1_000)))
  const labels = labelRules(policy, now, warning)
  const count = room === undefined ? labels.length : countFitting(labels, room)
  const { closesAt } = policy
  const chip = ({ word, text }: RuleLabel) => {
    const props = {
      className: classes.chip,
      'data-due': (word === 'tls' && warning !== '') || undefined,
      'data-tip':
        word === 'temporary' && closesAt !== undefined
          ? `Removed at ${exactTime(Date.parse(closesAt))}`
          : room !== undefined && widthOf(text) + MORE > room
            ? text
            : undefined,
      children: text,
    }
    return onFilter === undefined ? (
      <span key={word} {...props} />
    ) : (
      <button
        key={word}
        type="button"
        tabIndex={tabIndex}
        {...props}
        onClick={() => onFilter(word)}
      />
    )
  }
  return (
    <span className={classes.chips} data-wrap={room === undefined || undefined}>
      {labels.slice(0, count).map(chip)}
      <OverflowNames names={labels.slice(count).map(({ text }) => text)} />
    </span>
  )
}

const isTls = (address: string) => address.startsWith('ssl:')
/**
 * Returns the policy whose rules a row shows; undefined if it has none to show. Certificates of an
 * endpoint without a policy may be due, too.
 */
export const ruledPolicy = (row: Pick<EndpointRow, 'address' | 'policy'>): Policy | undefined =>
  row.policy ?? (row.policy === null && isTls(row.address) ? NO_RULES : undefined)

const NO_RULES: Policy = {}

/** Average width of a character, and the widths of a chip without text and of "+9", px. */
const CHARACTER = 6.2
const CHIP = 18
const MORE = 24

const widthOf = (text: string): number => text.length * CHARACTER + CHIP

/** Returns how many chips fit, at least one and at most two. */
export function countFitting(labels: readonly RuleLabel[], room: number): number {
  const [first, second, third] = labels.map(({ text }) => widthOf(text))
  if (first === undefined || second === undefined) return labels.length
  return first + second + (third === undefined ? 0 : MORE) <= room ? 2 : 1
}
