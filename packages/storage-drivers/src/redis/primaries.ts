import type { Redis } from 'ioredis'
import type { Connection } from './connection.ts'

/** Returns every server that holds items: the single server, or the current primaries of a cluster. */
export async function primariesOf({ client, run }: Connection): Promise<readonly Redis[]> {
  if (!('nodes' in client)) return [client]
  // ioredis drops lost nodes from its list until it refreshes the slots; a key listing would silently miss their items.
  await run(
    () =>
      new Promise<void>((resolve, reject) => {
        client.refreshSlotsCache((error) => (error ? reject(error) : resolve()))
      }),
  )
  return client.nodes('master')
}
