import { addRounds } from './figures.ts'

/** Names the time budget of a benchmark, s, which `npm run bench` sets. */
export const BUDGET_VARIABLE = 'GATEHOUSE_BENCH_SECONDS'

/** Number of rounds that are measured even if the budget is used up. */
const MIN_ROUNDS = 3

/** When the budget ends, and the clock, ms since the start of the process. */
interface Budget {
  readonly end: number
  readonly now: () => number
}

const BUDGET: Budget = {
  end: Number(process.env[BUDGET_VARIABLE] ?? Infinity) * 1_000,
  now: () => performance.now(),
}

/**
 * Yields the numbers of rounds from 0: up to `max`, but only as many as fit into a share of the
 * time that is left of the budget, and at least three. Reports how many there were.
 *
 * @param share below 1 if other measurements follow.
 */
export function* withinBudget(
  max: number,
  share = 1,
  { end, now }: Budget = BUDGET,
): Generator<number, void> {
  const begun = now()
  const limit = (end - begun) * share
  let rounds = 0
  for (; rounds < max; rounds++) {
    const used = now() - begun
    // The next round is expected to take as long as the others on average.
    if (rounds >= MIN_ROUNDS && used + used / rounds > limit) break
    yield rounds
  }
  addRounds(rounds)
}
