import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import type { AuditRow } from '../../server/contract/audit.ts'
import { isRestorable, POLICY_CHANGES } from '../../server/contract/audit-action.ts'
import { policy as policySchema } from '../../server/contract/endpoints/policy.ts'
import { useHasRole } from '../api/session/person.ts'
import { compareRules } from '../policy/rule-changes.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import classes from './audit-detail.module.css'

/** Details of an audit row: the state before and after, the time, the caller, and the hash. */
export function AuditDetail({ row }: { row: AuditRow }) {
  const mayRestore = useHasRole('operator')
  const { link } = useDialogNavigation()
  const lines = diffRules(row) ?? diffFields(row.before, row.after)
  return (
    <div className={classes.detail}>
      {lines.length === 0 ? (
        <p className="dim">No further details were recorded.</p>
      ) : (
        <table
          className={classes.sides}
          data-rules={POLICY_CHANGES.includes(row.action) || undefined}
        >
          <caption className="visually-hidden">Before and after</caption>
          <thead>
            <tr>
              <td className={classes.key} />
              <th scope="col">Before</th>
              <th scope="col">{row.outcome === 'refused' ? 'Rejected' : 'After'}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ key, before, after, changed }) => (
              <tr key={key} data-changed={changed || undefined}>
                <th scope="row">{key}</th>
                <td>{before ?? <Nothing />}</td>
                <td>{after ?? <Nothing />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mayRestore && isRestorable(row) && (
        <Button
          variant="default"
          className={classes.restore}
          renderRoot={(props) => (
            <Link
              to="/activity/restore"
              search={(now) => ({ ...now, row: `${row.seq}` })}
              {...props}
              {...link}
            />
          )}
        >
          Restore previous state
        </Button>
      )}
      <p className={classes.facts}>
        <span>Row {row.seq}</span>
        <span>{exactTime(Date.parse(row.at))}</span>
        <span>by {byWords[row.by]}</span>
        {row.address !== null && (
          <span>
            Client address <span className="mono">{row.address}</span>
          </span>
        )}
        <span className={`mono ${classes.hash}`} data-tip="The hash of this row in the chain">
          {row.hash}
        </span>
      </p>
    </div>
  )
}

const byWords: Readonly<Record<AuditRow['by'], string>> = {
  session: 'a browser session',
  token: 'a token',
  'command-line': 'the command line',
  system: 'the server',
}

function Nothing() {
  return (
    <span className="dim">
      –<span className="visually-hidden"> nothing</span>
    </span>
  )
}

/** A key that exists before, after, or both. Values are JSON text, or words. */
interface DiffLine {
  readonly key: string
  /** Undefined if the key did not exist. */
  readonly before: string | undefined
  /** Undefined if the key no longer exists. */
  readonly after: string | undefined
  readonly changed: boolean
}

/** Key for a value that is not an object. */
const ROOT_KEY = 'value'

const policyState = z.nullable(
  z.object({ policy: policySchema, trialUntil: z.optional(z.string()) }),
)

/**
 * Returns a line in words for each rule that a change of a policy changes, and the end of its trial;
 * undefined for other rows.
 */
export function diffRules(row: Pick<AuditRow, 'action' | 'before' | 'after'>) {
  if (!POLICY_CHANGES.includes(row.action)) return undefined
  const before = policyState.safeParse(row.before)
  const after = policyState.safeParse(row.after)
  if (!before.success || !after.success) return undefined
  const rules = compareRules(before.data?.policy ?? null, after.data?.policy ?? null)
  const lines: DiffLine[] = rules.map(({ rule, ...sides }) => ({
    key: rule,
    ...sides,
    changed: true,
  }))
  const until = after.data?.trialUntil
  if (until === undefined) return lines
  const end = `until ${exactTime(Date.parse(until))}`
  return [...lines, { key: 'Trial', before: undefined, after: end, changed: true }]
}

/** Compares two values key by key, in order of appearance. */
export function diffFields(before: unknown, after: unknown): DiffLine[] {
  const [left, right] = [fields(before), fields(after)]
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => {
    const line = { key, before: left.get(key), after: right.get(key) }
    return { ...line, changed: line.before !== line.after }
  })
}

function fields(value: unknown): ReadonlyMap<string, string> {
  if (value === null || value === undefined) return new Map()
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([[ROOT_KEY, show(value)]])
  return new Map(Object.entries(value).map(([key, field]) => [key, show(field)]))
}

/** Formats a value on one line, with spaces where it can wrap. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const parts = Object.entries(value).map(
    ([key, field]) => `${JSON.stringify(key)}: ${show(field)}`,
  )
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
