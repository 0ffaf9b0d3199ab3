const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Shown if there is no figure, as opposed to 0. */
export const NO_FIGURE = '–'

/** Formats a count: "0", "12", "1,204". */
export const formatCount = (count: number): string => whole.format(count)

/** Formats a rate, with one decimal below 10: "0.4", "2", "1,204". */
export const formatRate = (rate: number): string => (rate < 10 ? tenth : whole).format(rate)
