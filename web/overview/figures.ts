import type { Traffic, TrafficStep } from '../../server/contract/overview.ts'
import { formatSeconds, percentileOf } from '../shared/response-times.ts'
import { formatCount, formatRate, NO_FIGURE } from '../ui/text/format-number.ts'

/** Figures of the steps of a range, oldest first; null where there is no data. */
export type Figures = readonly (number | null)[]

/** Returns the figures of each tile. */
export function figuresOf({ steps, stepSeconds, bounds }: Traffic) {
  const each = (of: (step: TrafficStep) => number | null): Figures =>
    steps.map((step) => step && of(step))
  const share = (of: 'rejected' | 'failed') =>
    each((step) => (step.requests === 0 ? 0 : step[of] / step.requests))
  return {
    open: each(({ open }) => open ?? null),
    rate: each(({ requests }) => requests / stepSeconds),
    rejected: share('rejected'),
    failed: share('failed'),
    latency: each(({ durations }) => percentileOf(durations, bounds, 95)),
  }
}

/** Returns the last figure that is known. */
export const lastOf = (figures: Figures): number | null =>
  figures.findLast((figure) => figure !== null) ?? null

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

const orNone =
  (format: (figure: number) => string) =>
  (figure: number | null | undefined): string =>
    figure == null ? NO_FIGURE : format(figure)

/** Formats a count, a rate per second, a share ("1.8%") and a duration ("4.2 ms", "1.5 s"). */
export const format = {
  count: orNone(formatCount),
  rate: orNone(formatRate),
  share: orNone((share) => percent.format(share)),
  seconds: orNone(formatSeconds),
}

const minute = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** Formats when a step ended: "14:02". */
export const formatStep = ({ until, steps, stepSeconds }: Traffic, at: number): string =>
  minute.format(Date.parse(until) - (steps.length - 1 - at) * stepSeconds * 1_000)
