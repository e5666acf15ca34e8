/**
 * What was thrown, as plain data that JSON can hold. Properties that a library adds to its errors are left out: a failed HTTP request may carry its
 * headers, and a database error its row.
 */
export interface EventCause {
  /** The name of the error, or the type of what was thrown in its place. */
  readonly name: string
  readonly message: string
  /** A code such as `ECONNREFUSED`. */
  readonly code?: string
  readonly stack?: string
  readonly cause?: EventCause
}

const longestText = 10_000
/** Causes of causes; a chain may also be a circle. */
const deepest = 5

// The tests of a plugin author want the error itself.
const originals = new WeakMap<EventCause, unknown>()

/** What was thrown, for the test kit. */
export const thrownBehind = (cause: EventCause): unknown => originals.get(cause)

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, longestText) : undefined

function describeObject(thrown: object, depth: number): EventCause {
  const { name, message, code, stack, cause, errors } = thrown as Readonly<Record<string, unknown>>
  // An AggregateError often has no message: the reason is in its first error.
  const [first] = Array.isArray(errors) ? errors : []
  const behind = cause ?? first
  const shownStack = textOf(stack)
  return {
    name: textOf(name) ?? 'Object',
    message: textOf(message) ?? Object.prototype.toString.call(thrown),
    ...(typeof code === 'string' && /^[\w-]{1,100}$/u.test(code) && { code }),
    ...(shownStack !== undefined && { stack: shownStack }),
    ...(behind !== undefined && behind !== null && depth < deepest && { cause: describe(behind, depth + 1) }),
  }
}

function describe(thrown: unknown, depth: number): EventCause {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) {
    return { name: thrown === null ? 'null' : typeof thrown, message: String(thrown).slice(0, longestText) }
  }
  try {
    return describeObject(thrown, depth)
  } catch {
    // A getter of a foreign error may throw.
    return { name: 'Object', message: 'What was thrown cannot be read' }
  }
}

/** Describes anything that was thrown, for `cause` of an event. Never throws. */
export function describeCause(thrown: unknown): EventCause {
  const cause = describe(thrown, 1)
  originals.set(cause, thrown)
  return cause
}
