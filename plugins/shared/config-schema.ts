import * as v from 'valibot'

/** The schema of a duration in seconds, which can be a fraction. */
export const seconds = (least: number, most: number) => {
  const message = `must be ${least} to ${most} seconds`
  return v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))
}

/** The schema of a duration in whole seconds. */
export const wholeSeconds = (least: number, most: number) =>
  v.pipe(seconds(least, most), v.integer('must be whole seconds'))

/** The schema of a whole number. */
export const wholeNumber = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

/** The schema of an optional function. */
export const functionSchema = <T>() =>
  v.optional(v.custom<T>((value) => typeof value === 'function', 'must be a function'))
