import { isObject } from '@grantry/core'
import * as v from 'valibot'

/** The schema of a duration in seconds, which can be a fraction. */
export const seconds = (least: number, most: number) => {
  const message = `must be ${least} to ${most} seconds`
  return v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))
}

/** The schema of a duration in whole seconds. */
export const wholeSeconds = (least: number, most: number) =>
  v.pipe(seconds(least, most), v.integer('must be whole seconds'))

/** Both limits are included. */
export const wholeNumber = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

export const requiredFunctionSchema = <T>() => v.custom<T>((value) => typeof value === 'function', 'must be a function')

export const functionSchema = <T>() => v.optional(requiredFunctionSchema<T>())

/** The names of the functions that an object must have. */
export type FunctionNames<T> = {
  readonly [Name in keyof T as undefined extends T[Name]
    ? never
    : T[Name] extends (...args: never[]) => unknown
      ? Name
      : never]: true
}

const isFunctionOf = (value: unknown, name: string): boolean =>
  isObject(value) && typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'

/**
 * The schema of an object with functions. Without one of them, it would fail at the first request that needs it.
 *
 * @param expected what it is, such as `the pages of createPages()`
 */
export function portSchema<T>(expected: string, functions: FunctionNames<T>) {
  const names = Object.keys(functions)
  return v.custom<T>(
    (value) => names.every((name) => isFunctionOf(value, name)),
    ({ input }) => {
      const lacking = names.filter((name) => !isFunctionOf(input, name))
      return `must be ${expected}${isObject(input) ? `: it has no function ${lacking.join(', ')}` : ''}`
    },
  )
}
