import type { Redis } from 'ioredis'
import type { Connection } from './connection.ts'

/** Every server that holds items of its own: one, or the primaries of a cluster as they are now. */
export async function primariesOf({ client, run }: Connection): Promise<readonly Redis[]> {
  if (!('nodes' in client)) return [client]
  // A node that was lost is not in the list until ioredis looks again; without it, a list of keys would be short of a third without a word.
  await run(
    () =>
      new Promise<void>((resolve, reject) => {
        client.refreshSlotsCache((error) => (error ? reject(error) : resolve()))
      }),
  )
  return client.nodes('master')
}
