import { includesDatabase } from '../../../server/contract/database.ts'
import { labelRules } from '../../policy/rule-labels.ts'
import { type BadgeState, stateLabels } from '../../ui/feedback/state-badge.tsx'
import type { EndpointRow } from './endpoint-rows.ts'

/** A parsed filter. All values but database names are in lower case. */
export interface EndpointFilter {
  readonly states: readonly string[]
  readonly databases: readonly string[]
  readonly nodes: readonly string[]
  /** Words for rules of the policy, such as `read-only`. */
  readonly rules: readonly string[]
  /** Each word must occur in the address, the name of a mapped database, or the note. */
  readonly words: readonly string[]
}

/**
 * Parses a filter such as `state:failed db:shop node:a rule:read-only 853`. Never throws; unknown terms are words.
 */
export function parseFilter(text: string): EndpointFilter {
  const filter = { states: [], databases: [], nodes: [], rules: [], words: [] } as Record<
    keyof EndpointFilter,
    string[]
  >
  for (const word of text.split(/\s+/)) {
    const [, key, value] = /^(state|db|node|rule):(.+)$/i.exec(word) ?? []
    if (key === undefined || value === undefined) {
      if (word !== '') filter.words.push(word.toLowerCase())
    } else if (key.toLowerCase() === 'state') filter.states.push(value.toLowerCase())
    else if (key.toLowerCase() === 'db') filter.databases.push(value)
    else if (key.toLowerCase() === 'rule') filter.rules.push(value.toLowerCase())
    else filter.nodes.push(value.toLowerCase())
  }
  return filter
}

/**
 * Returns the rows that match a filter, in their order. Returns `rows` itself if the filter is
 * empty.
 */
export function filterRows(rows: readonly EndpointRow[], text: string): readonly EndpointRow[] {
  if (text === '') return rows
  const filter = parseFilter(text)
  const texts = filter.words.length === 0 ? [] : searchTexts(rows)
  return rows.filter((row, at) => matchesFilter(filter, row, texts[at]))
}

/**
 * Returns whether a row matches: one of the states, every database, one of the nodes, every
 * rule, each word.
 *
 * @param text the searched text, if it is already computed.
 */
export function matchesFilter(
  filter: EndpointFilter,
  row: EndpointRow,
  text = textOf(row),
): boolean {
  const { states, databases, nodes, rules, words } = filter
  if (states.length > 0 && !states.includes(row.state)) return false
  if (nodes.length > 0 && !row.listeners.some(({ node }) => nodes.includes(node.toLowerCase()))) {
    return false
  }
  const mapped = row.databases
  if (!databases.every((name) => mapped !== null && includesDatabase(mapped, name))) return false
  if (rules.length > 0) {
    const labels = labelRules(row.policy ?? {}, 0)
    if (!rules.every((rule) => labels.some(({ word }) => word === rule))) return false
  }
  return words.every((word) => text.includes(word))
}

const textOf = (row: EndpointRow): string =>
  `${row.address} ${row.databases?.join(' ') ?? ''} ${row.policy?.note ?? ''}`.toLowerCase()

const textsOfLists = new WeakMap<readonly EndpointRow[], readonly string[]>()

/**
 * Returns the searched text of each row. It is cached per list, because each keystroke searches all
 * rows. Call it when the field gets the focus to fill the cache.
 */
export function searchTexts(rows: readonly EndpointRow[]): readonly string[] {
  const cached = textsOfLists.get(rows)
  if (cached !== undefined) return cached
  const texts = rows.map(textOf)
  textsOfLists.set(rows, texts)
  return texts
}

/** Returns a filter with its states replaced by one or none. */
export function withState(text: string, state: BadgeState | undefined): string {
  const others = text.split(/\s+/).filter((word) => word !== '' && !/^state:/i.test(word))
  return [...(state === undefined ? [] : [`state:${state}`]), ...others].join(' ')
}

/** Returns a filter with a rule added, or removed if it has it. */
export function withRule(text: string, rule: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const others = words.filter((word) => word.toLowerCase() !== `rule:${rule}`)
  return [...others, ...(others.length < words.length ? [] : [`rule:${rule}`])].join(' ')
}

/**
 * Formats the message of an empty result: "No endpoint matches “853” in state Failed. 128 are
 * hidden."
 */
export function formatNoMatch(text: string, hidden: number): string {
  const { states, databases, nodes, rules, words } = parseFilter(text)
  const wording = (state: string) => stateLabels[state as BadgeState]?.replace('…', '') ?? state
  const parts = [
    words.length > 0 && `matches “${words.join(' ')}”`,
    states.length > 0 &&
      `${words.length > 0 ? '' : 'is '}in state ${states.map(wording).join(' or ')}`,
    databases.length > 0 && `serves ${databases.join(' and ')}`,
    nodes.length > 0 && `runs on ${nodes.join(' or ')}`,
    rules.length > 0 && `has the ${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(' and ')}`,
  ].filter((part) => part !== false)
  const joined = parts.join(' and ').replace('” and in state', '” in state')
  return `No endpoint ${joined}. ${hidden === 1 ? '1 is' : `${hidden} are`} hidden.`
}
