import * as v from 'valibot'

/** Ten years: more than any rotation needs. */
const longest = 315_360_000

/** Seconds for which earlier secrets work. */
export const overlap = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(longest)), 0)
