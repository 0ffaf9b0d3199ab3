import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import type { AuditRow } from '../../server/contract/audit.ts'
import { isRestorable, POLICY_CHANGES } from '../../server/contract/audit-action.ts'
import { policy as policySchema } from '../../server/contract/endpoints/policy.ts'
import { printRetain } from '../../server/contract/feed.ts'
import { useHasRole } from '../api/session/person.ts'
import { compareRules, type RuleChange } from '../policy/rule-changes.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { IconArrowRight } from '../ui/icon/icons.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import classes from './audit-detail.module.css'

/** Details of an audit row: what it changed in words, the caller, the hash, and its JSON. */
export function AuditDetail({ row }: { row: AuditRow }) {
  const mayRestore = useHasRole('operator')
  const { link } = useDialogNavigation()
  const lines = diffRules(row) ?? diffFields(row.before, row.after)
  return (
    <div className={classes.detail}>
      {lines.length === 0 ? (
        <p className="dim">No further details were recorded.</p>
      ) : (
        <dl className={classes.lines}>
          {lines.map(({ key, before, after }) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                {before !== undefined && <span className={classes.before}>{before}</span>}
                {before !== undefined && (
                  <>
                    <IconArrowRight size={14} stroke={1.75} />
                    <span className="visually-hidden"> became </span>
                    <span>{after ?? 'none'}</span>
                  </>
                )}
                {before === undefined && after}
              </dd>
            </div>
          ))}
        </dl>
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
      <details className={classes.raw}>
        <summary>Raw JSON</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable */}
        <pre tabIndex={0}>{JSON.stringify(row, undefined, 2)}</pre>
      </details>
      <p className={classes.facts}>
        <span>Row {row.seq}</span>
        <span>{exactTime(Date.parse(row.at))}</span>
        <span>
          <span className="mono">{row.actor}</span> by {byWords[row.by]}
        </span>
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

/** A difference in words. */
interface DiffLine {
  readonly key: string
  /** Undefined if there was nothing to compare with. */
  readonly before: string | undefined
  /** Undefined if it no longer exists. */
  readonly after: string | undefined
}

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
  const lines = toLines(compareRules(before.data?.policy ?? null, after.data?.policy ?? null))
  const until = after.data?.trialUntil
  if (until === undefined) return lines
  const end = `until ${exactTime(Date.parse(until))}`
  return [...lines, { key: 'Trial', before: undefined, after: end }]
}

/**
 * Returns the fields that differ between two values, in order of appearance. If nothing existed
 * before or after, returns all fields of the other one.
 */
export function diffFields(before: unknown, after: unknown): DiffLine[] {
  const policyOf = (side: unknown) => policyState.safeParse(side).data?.policy ?? null
  const rules = toLines(compareRules(policyOf(before), policyOf(after))).map((line) => ({
    ...line,
    // Without an endpoint, no rule applies, not even a default.
    ...(before === null && { before: undefined }),
    ...(after === null && { after: undefined }),
  }))
  const [left, right] = [fields(before), fields(after)]
  const keys = [...new Set([...left.keys(), ...right.keys()])]
  return keys.flatMap((key) => {
    if (key === 'policy' && rules.length > 0) return rules
    const line = { key: words(key), before: left.get(key), after: right.get(key) }
    return line.before === line.after ? [] : line
  })
}

const toLines = (changes: readonly RuleChange[]): DiffLine[] =>
  changes.map(({ rule, ...sides }) => ({ key: rule, ...sides }))

function fields(value: unknown): ReadonlyMap<string, string> {
  if (value === null || value === undefined) return new Map()
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([['value', show(value)]])
  return new Map(Object.entries(value).map(([key, field]) => [key, show(field, key)]))
}

/** "revokedTokens" as "revoked tokens". */
const words = (key: string) => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Maximum number of characters of a value in words. The JSON has the rest. */
const SHOWN = 300

/** Formats a value in words: a list with commas, "yes", "none". */
function show(value: unknown, key = ''): string {
  if (key === 'databases' && Array.isArray(value) && value.length === 0) return 'every database'
  if (key === 'databases' && value === null) return 'every database'
  if (key === 'refused') return String(value).replaceAll('-', ' ')
  if (value === null || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (key === 'retain' && typeof value === 'number') return printRetain(value)
  if (typeof value === 'number') return formatCount(value)
  const isList = Array.isArray(value) && value.every((each) => typeof each !== 'object')
  if (isList && value.length === 0) return 'none'
  const text = isList
    ? value.join(', ')
    : typeof value === 'string'
      ? (timeOf(value) ?? value)
      : JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** Returns an ISO 8601 time in UTC in the zone of the browser; undefined for other texts. */
const timeOf = (text: string): string | undefined =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? exactTime(Date.parse(text)) : undefined
