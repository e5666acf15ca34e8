import pg from 'pg'
import { afterAll } from 'vitest'

/** What was sent to PostgreSQL while a test has counted. */
export interface Sent {
  /** Statements for the table of the users. */
  readonly users: number
  /** Statements for the storage. */
  readonly storage: number
  /** Trips one after another: a statement that is sent while another is in flight needs none of its own. */
  readonly trips: number
}

type Send = (
  this: unknown,
  query: { readonly name?: string; readonly text?: string },
  done: (...results: readonly unknown[]) => void,
) => unknown

/**
 * Counts the prepared statements that this process sends, until the end of the test file, but not the steps of the sweeper: they
 * follow the real clock, and belong to no request.
 */
export function statementCounter(): (act: () => Promise<unknown>) => Promise<Sent> {
  const prototype = pg.Client.prototype as unknown as { query: Send }
  const { query } = prototype
  let inFlight = 0
  let sent = { users: 0, storage: 0, trips: 0 }
  prototype.query = function count(statement, done) {
    const { name, text = '' } = statement
    const isCounted = name !== undefined && !text.startsWith('WITH removed AS') && typeof done === 'function'
    if (!isCounted) return query.call(this, statement, done)
    if (name.startsWith('grantry_users_')) sent.users += 1
    else sent.storage += 1
    if (inFlight === 0) sent.trips += 1
    inFlight += 1
    return query.call(this, statement, (...results) => {
      inFlight -= 1
      done(...results)
    })
  }
  afterAll(() => {
    prototype.query = query
  })
  return async (act) => {
    sent = { users: 0, storage: 0, trips: 0 }
    await act()
    return { ...sent }
  }
}
