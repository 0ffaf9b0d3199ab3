import { includesDatabase, SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { Countdown } from '../ui/feedback/countdown.tsx'
import { useStore } from '../ui/store.ts'
import classes from './policy-facts.module.css'
import { useKeepTrial } from './policy-requests.ts'
import type { PolicySection } from './policy-sections.ts'
import { factsOf, hasClients, NO_CONSOLE, UNIX_CLIENTS } from './rule-changes.ts'
import { type PolicyTrial, trialStore } from './trial.ts'

/** The rules of one section of a policy, with the defaults. */
export function PolicyFacts(props: {
  record: PolicyRecord | undefined
  section: PolicySection
  address: string
  mapping: readonly string[]
}) {
  const { record, section, address, mapping } = props
  if (section === 'administration' && !includesDatabase(mapping, SYSTEM_DATABASE)) {
    return <p className="meta dim">{NO_CONSOLE}</p>
  }
  if (section === 'access' && !hasClients(address)) {
    return <p className="meta dim">{UNIX_CLIENTS}</p>
  }
  return (
    <dl className={classes.facts}>
      {factsOf(record?.policy ?? {}, section).map(({ rule, value, isDefault }) => (
        <div key={rule}>
          <dt>{rule}</dt>
          <dd data-default={isDefault || undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Counts down to the end of a trial. On a narrow screen, the panel covers the banner. */
export function TrialNotice({ record }: { record: PolicyRecord | undefined }) {
  const own = useStore(trialStore)
  if (record?.trial === undefined) return null
  return (
    <p className={classes.trial}>
      This policy is being tried. The previous one returns in{' '}
      <Countdown to={Date.parse(record.trial.until)} />.{' '}
      {own?.endpoint === record.endpoint && own && <Keep trial={own} />}
    </p>
  )
}

function Keep({ trial }: { trial: PolicyTrial }) {
  const keep = useKeepTrial(trial)
  return (
    <button
      type="button"
      className="link-button"
      aria-disabled={keep.isPending || undefined}
      onClick={() => keep.mutate()}
    >
      Keep policy
    </button>
  )
}
