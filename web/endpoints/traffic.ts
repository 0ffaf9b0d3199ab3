const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Stands where there is no figure, as opposed to a figure that is 0. */
export const NO_FIGURE = '–'

/** A count: "0", "12", "1,204". */
export const sayCount = (count: number): string => whole.format(count)

/** A rate: a tenth below ten, where it tells something; "0" for none at all. */
export const sayRate = (rate: number): string => (rate < 10 ? tenth : whole).format(rate)
