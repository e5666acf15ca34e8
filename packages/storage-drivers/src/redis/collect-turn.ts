import type { Connection } from './redis-connection.ts'

/** Maximum number of keys in one command: Redis serves no other client while it runs. */
export const maxBatch = 500

/** A request that can share a command with others. */
interface Keyed {
  readonly itemKeys: readonly string[]
}

/**
 * Collects what is requested in one turn of the event loop, because a command costs this process several times as much as
 * a key.
 *
 * @param perform called at the end of the turn; several times if there are too many keys for one command
 * @param sorted returns the order in which they are performed. Default: that of the requests.
 */
export function collectTurn<T extends Keyed>(
  { atEndOfTurn }: Pick<Connection, 'atEndOfTurn'>,
  perform: (batch: readonly T[]) => void,
  sorted: (all: readonly T[]) => readonly T[] = (all) => all,
): (request: T) => void {
  let pending: T[] = []

  function flush(): void {
    const all = sorted(pending)
    pending = []
    let batch: T[] = []
    let size = 0
    for (const request of all) {
      size += request.itemKeys.length
      if (size > maxBatch && batch.length > 0) {
        perform(batch)
        batch = []
        size = request.itemKeys.length
      }
      batch.push(request)
    }
    perform(batch)
  }

  return (request) => {
    if (pending.length === 0) atEndOfTurn(flush)
    pending.push(request)
  }
}
