/** Whether the value has members: an object or an array. */
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Whether the value is what JSON calls an object: no array, and not `null`. Its members are not checked. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value)
