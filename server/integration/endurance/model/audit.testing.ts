import { expect } from 'vitest'
import { verifyChain } from '../../../audit/verify.ts'
import type { AuditPage, AuditRow } from '../../../contract/audit.ts'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import type { Call, Model } from './model.testing.ts'

/** Actions that {@link auditRowsOf} derives; others depend on more than two states. */
const DERIVED = [
  ...['database.create', 'database.drop', 'index.create', 'index.drop'],
  ...['endpoint.add', 'endpoint.map', 'endpoint.remove'],
  ...['person.role', 'token.create', 'token.revoke', 'session.end'],
]

/** Returns the keys of a record whose value is in both records, only in the first, and only in the second. */
function compare<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>) {
  const [old, current] = [new Set(Object.keys(before)), new Set(Object.keys(after))]
  return {
    kept: [...old.intersection(current)],
    removed: [...old.difference(current)],
    added: [...current.difference(old)],
  }
}

/** Returns the action and target of each audit row that one operation adds, from its effect. */
export function auditRowsOf(before: Model, after: Model): string[] {
  const databases = compare(before.databases, after.databases)
  const endpoints = compare(before.endpoints, after.endpoints)
  const people = compare(before.people, after.people)
  const tokens = compare(before.tokens, after.tokens)
  const owned = ({ tokens }: Model, name: string) => {
    const owner = tokens[name]?.owner ?? ''
    return `${owner.includes(':') ? owner : `github:${owner}`}/${name}`
  }
  // The row of a role change counts the tokens that it revokes.
  const isByRole = (name: string) => {
    const owner = before.tokens[name]?.owner ?? ''
    return before.people[owner] !== after.people[owner]
  }
  const mapping = (model: Model, address: string) => JSON.stringify(model.endpoints[address])
  return [
    ...databases.added.map((name) => `database.create ${name}`),
    ...databases.removed.map((name) => `database.drop ${name}`),
    ...databases.kept.flatMap((name) => {
      const { indexes: old = {} } = before.databases[name] ?? {}
      const indexes = compare(old, after.databases[name]?.indexes ?? {})
      return [
        ...indexes.added.map((index) => `index.create ${name}/things/${index}`),
        ...indexes.removed.map((index) => `index.drop ${name}/things/${index}`),
      ]
    }),
    ...endpoints.added.map((address) => `endpoint.add ${address}`),
    ...endpoints.removed.map((address) => `endpoint.remove ${address}`),
    ...endpoints.kept
      .filter((address) => mapping(before, address) !== mapping(after, address))
      .map((address) => `endpoint.map ${address}`),
    ...people.kept
      .filter((name) => before.people[name] !== after.people[name])
      .map((name) => `person.role github:${name}`),
    ...tokens.added.map((name) => `token.create ${owned(after, name)}`),
    ...tokens.removed
      .filter((name) => !isByRole(name))
      .map((name) => `token.revoke ${owned(before, name)}`),
  ]
}

/** Returns a list without the elements of another one, each as often as it is in that list. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1)
  return list.filter((each) => {
    const count = counts.get(each) ?? 0
    counts.set(each, count - 1)
    return count <= 0
  })
}

/**
 * Checks that the audit log is intact, and has the expected rows of requests and commands, some of
 * the possible ones, and no others.
 */
export async function checkAuditLog(
  location: StoreLocation,
  call: Call,
  expected: readonly string[],
  possible: readonly string[],
): Promise<void> {
  const store = await openStore(location, 'tool')
  try {
    expect(await verifyChain(store)).toMatchObject({ intact: true })
  } finally {
    await store.close()
  }
  const rows: AuditRow[] = []
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const page: AuditPage = (await call('GET', `/_api/audit?limit=500&before=${before}`)).json
    rows.push(...page.rows)
    before = page.next
  }
  const found = rows
    .filter(({ by, outcome, action }) => {
      return by !== 'system' && outcome === 'done' && DERIVED.includes(action)
    })
    .map(({ action, target }) => `${action} ${target}`)
  expect(without(expected, found)).toEqual([])
  expect(without(found, [...expected, ...possible])).toEqual([])
}
