import { appendFileSync, readFileSync } from 'node:fs'

/** Other servers that are measured for comparison. */
export type Peer = 'node:http' | 'nginx' | 'Caddy' | 'HAProxy' | 'json-server'

/** A figure of the table that `npm run bench` prints. */
export interface Figure {
  /** The subject and what was measured, such as `read by id : bare node:http`. */
  readonly what: string
  readonly value: string
  /** The same figure of other servers. */
  readonly peers?: Readonly<Partial<Record<Peer, string>>> | undefined
  /** Such as `at least 0.35`; without a target, the figure is for comparison. */
  readonly target?: string | undefined
  readonly isMet?: boolean | undefined
}

/** The results of a benchmark. */
export interface Results {
  readonly figures: readonly Figure[]
  /** How many rounds each of its parts measured. */
  readonly rounds: readonly number[]
}

/** Names the file to which a benchmark appends its results. */
export const FIGURES_VARIABLE = 'GATEHOUSE_BENCH_FIGURES'

/** Adds a figure to the table, if `npm run bench` has started this benchmark. */
export const addFigure = (figure: Figure): void => append(figure)

/** Adds the number of rounds of a part to the table. */
export const addRounds = (rounds: number): void => append({ rounds })

function append(result: Figure | { readonly rounds: number }): void {
  const file = process.env[FIGURES_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(result)}\n`)
}

/** Returns the results in a file, none if there is no file. */
export function readResults(file: string): Results {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { figures: [], rounds: [] }
  }
  const results = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return {
    figures: results.filter((result) => 'what' in result),
    rounds: results.flatMap(({ rounds }) => rounds ?? []),
  }
}
