const isSqlState = (code: string | undefined): code is string => code !== undefined && /^[0-9A-Z]{5}$/u.test(code)

/** The SQLSTATE of an error, or its error code of Node.js. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Returns whether the code of an error is an SQLSTATE that matches. */
const hasState =
  (pattern: RegExp) =>
  (error: unknown): boolean => {
    const code = codeOf(error)
    return isSqlState(code) && pattern.test(code)
  }

/** Whether the statement failed, and its connection can be used again. */
export const keepsConnection = hasState(/^(?!08|57P|25006|25P02|26000|42P05|0A000|XX)/u)

/** Whether the server is not the right one any more, as after a failover. */
export const leadsElsewhere = hasState(/^25006/u)

/** Whether the statement was rolled back because of another one, so that a repetition is a first attempt. */
export const isRolledBack = hasState(/^40(?:001|P01)/u)

const isKnown = hasState(/^(?!08|57P)/u)

/** Whether the outcome of the statement is unknown. */
export const isUnknown = (error: unknown): boolean => !isKnown(error)

/** Returns the error of a write on a read-only server for that of a read, which divides by zero there. */
export const ofReplica = (error: unknown): unknown =>
  codeOf(error) === '22012' ? Object.assign(new Error('the server is read-only'), { code: '25006' }) : error

/** The meaning of an SQLSTATE for the operator. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['08P01', 'refuses a parameter of the connection; behind a PgBouncer, set preparedStatements to false'],
  ['22021', 'cannot store U+0000 in a value'],
  ['25006', 'is read-only: it is a replica, or default_transaction_read_only is on; use the primary'],
  ['26000', 'has lost a prepared statement; behind a PgBouncer, set preparedStatements to false'],
  ['42P05', 'has a prepared statement of another client; behind a PgBouncer, set preparedStatements to false'],
  ['28000', 'refuses this user; check the user and pg_hba.conf'],
  ['28P01', 'refuses the password or the user'],
  ['3D000', 'has no such database; create it, or correct its name in the url'],
  ['42501', 'gives this user too few rights'],
  ['42P01', 'has lost the table; restart to create it'],
  ['53100', 'has no space left on its disk'],
  ['53200', 'is out of memory'],
  ['53300', 'has no free connections; raise its max_connections, or lower maxConnections of the driver'],
  ['57014', 'canceled the statement, because it took too long'],
])

// Their messages name settings, objects and states of the server. Those of other classes can quote values.
const quotable = /^(?:08|25|28|3D|3F|40|42|53|54|55|57|58|F0|XX)/u

function describe(message: string, code: string | undefined): string {
  if (!isSqlState(code)) return `is not available: ${message}`
  const quoted = quotable.test(code) ? `${message} (${code})` : code
  return `${meanings.get(code) ?? 'returned an error'}: ${quoted}`
}

/** Creates the errors of a driver, which name the server but contain no parameters and no password. */
export interface Errors {
  /** Returns an error with a message and the code only: those of pg contain details with values. */
  explain(error: unknown): Error
  timedOut(): Error
  create(what: string): Error
}

/** @param timeout milliseconds */
export function createErrors(serverName: string, timeout: number): Errors {
  const created = new WeakSet<object>()

  function create(what: string, code?: string): Error {
    const error = Object.assign(new Error(`${serverName} ${what}`), code !== undefined && { code })
    created.add(error)
    return error
  }

  return {
    create,
    explain(error) {
      if (error instanceof Error && created.has(error)) return error
      // One error for each address of a host name.
      const [first] = error instanceof AggregateError ? error.errors : [error]
      const code = codeOf(first)
      return create(describe(first instanceof Error ? first.message : String(first), code), code)
    },
    timedOut: () => create(`is not available: no response within ${timeout / 1000} s`),
  }
}
