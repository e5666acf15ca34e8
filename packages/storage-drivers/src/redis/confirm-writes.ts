import type { RedisClient } from './client-factory.ts'
import { type Connection, isReplyError } from './redis-connection.ts'

/** A command, as it is sent. */
export interface Write {
  /** The key in Redis of an item that it writes. */
  readonly itemKey: string
  readonly command: readonly [name: string, ...parameters: (string | number)[]]
}

/** The reply of Redis to one write, or the error of a write that was not confirmed. */
export type WriteReply = { readonly reply: unknown } | { readonly error: Error }

export interface Confirmation {
  /** Number of replicas that must have a write before it counts. */
  readonly replicas: number
  /** Milliseconds to wait for them. */
  readonly replicaTimeout: number
  fenceOf(itemKey: string): string
}

type Result = readonly [error: Error | null, reply: unknown]

/** Maximum number of times that a pipeline is sent again after its slot has moved. */
const maxRedirections = 3

const isRedirection = (error?: Error | null): boolean => /^(?:MOVED|ASK) /u.test(error?.message ?? '')

/**
 * Returns the replies, which may be errors. Throws when the connection is lost: a pipeline of ioredis resolves even
 * then.
 */
async function execute(client: RedisClient, commands: readonly Write['command'][]): Promise<readonly Result[]> {
  const results = (await client.pipeline(commands.map((command) => [...command])).exec()) as Result[]
  const lost = results.find(([error]) => error !== null && !isReplyError(error))
  if (lost !== undefined) throw lost[0]
  return results
}

/** Follows redirections. ioredis does so for a pipeline only if every command was redirected, and WAIT never is. */
async function send(
  { client, run }: Connection,
  itemKey: string,
  commands: readonly Write['command'][],
): Promise<readonly Result[]> {
  for (let attempt = 0; ; attempt += 1) {
    const results = await run(() => execute(client, commands))
    // Resend only if the first write was redirected: a performed write must not be sent twice, even if its fence was
    // redirected.
    if (attempt === maxRedirections || !isRedirection(results[0]?.[0])) return results
    // ioredis follows the redirection of a single command and refreshes its slot table.
    await run(() => client.exists(itemKey))
  }
}

/** Whether the command changed data, so that WAIT covers it. */
const hasWritten = ([error, reply]: Result): boolean =>
  error === null && (reply === 'OK' || (typeof reply === 'number' && reply > 0))

/**
 * Performs writes on one server and waits until enough replicas have them and all earlier writes of any client: an
 * insert that finds an existing item may only report so once that item is on the replicas. Replication is one ordered
 * stream, but WAIT covers only the writes of its own connection. So a batch also writes a fence key after its commands.
 */
export async function confirmWrites(
  connection: Connection,
  writes: readonly Write[],
  { replicas, replicaTimeout, fenceOf }: Confirmation,
): Promise<readonly WriteReply[]> {
  const itemKey = writes[0]?.itemKey ?? ''
  const results = await send(connection, itemKey, [
    ...writes.map(({ command }) => command),
    ['set', fenceOf(itemKey), '1', 'PX', 1000],
    ['wait', replicas, replicaTimeout],
  ])
  const [fence, wait] = results.slice(writes.length) as [Result, Result]
  const confirmedBy = wait[0] ? 0 : Number(wait[1])
  return writes.map((_, index): WriteReply => {
    const result = results[index] as Result
    const [error, reply] = result
    // A full server rejects the fence but still performs removals.
    const cause = error ?? wait[0] ?? (hasWritten(result) ? null : fence[0])
    if (cause) return { error: connection.explain(cause) }
    if (confirmedBy >= replicas) return { reply }
    return {
      error: connection.createError(
        `confirmed a write on only ${confirmedBy} of ${replicas} replicas within ${replicaTimeout} ms`,
      ),
    }
  })
}
