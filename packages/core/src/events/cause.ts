/**
 * A thrown value as plain JSON data. Additional properties of the error are omitted: an HTTP error may contain request
 * headers, and a database error a row.
 */
export interface EventCause {
  /** The name of the error, or the type of a thrown value that is not an error. */
  readonly name: string
  readonly message: string
  /** A code such as `ECONNREFUSED`. */
  readonly code?: string | undefined
  readonly stack?: string | undefined
  readonly cause?: EventCause | undefined
}

const maxTextLength = 10_000
/** The maximum depth of nested causes. A chain of causes can be cyclic. */
const maxDepth = 5

// A test kit returns the original error to the tests of plugin authors.
const originals = new WeakMap<EventCause, unknown>()

/**
 * Returns the thrown value that a cause describes, in the process that described it. For test kits only: it can contain a
 * secret, which must not reach a log.
 */
export const thrownValueOf = (cause: EventCause): unknown => originals.get(cause)

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, maxTextLength) : undefined

function describeObject(thrown: object, depth: number): EventCause {
  const { name, message, code, stack, cause, errors } = thrown as Readonly<Record<string, unknown>>
  // An AggregateError often has no message; its first error contains the reason.
  const [first] = Array.isArray(errors) ? errors : []
  const nested = cause ?? first
  const shownStack = textOf(stack)
  return {
    name: textOf(name) ?? 'Object',
    message: textOf(message) ?? Object.prototype.toString.call(thrown),
    ...(typeof code === 'string' && /^[\w-]{1,100}$/u.test(code) && { code }),
    ...(shownStack !== undefined && { stack: shownStack }),
    ...(nested !== undefined && nested !== null && depth < maxDepth && { cause: describe(nested, depth + 1) }),
  }
}

function describe(thrown: unknown, depth: number): EventCause {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) {
    return { name: thrown === null ? 'null' : typeof thrown, message: String(thrown).slice(0, maxTextLength) }
  }
  try {
    return describeObject(thrown, depth)
  } catch {
    // A getter of the thrown object may throw.
    return { name: 'Object', message: 'The thrown value cannot be read' }
  }
}

/** Describes a thrown value for the `cause` of an event. Never throws. */
export function describeCause(thrown: unknown): EventCause {
  const cause = describe(thrown, 1)
  originals.set(cause, thrown)
  return cause
}
