import type { Connection } from './connection.ts'
import type { RedisClient } from './own-client.ts'
import { isReplyError } from './reply-error.ts'

/** A command of one key, as it is sent. */
export interface Write {
  /** The key of the item in Redis. */
  readonly itemKey: string
  readonly command: readonly [name: string, ...parameters: (string | number)[]]
}

/** What Redis answered to one write, or why that does not count. */
export type Outcome = { readonly answer: unknown } | { readonly error: Error }

export interface Confirmation {
  /** How many replicas must have a write before it counts. */
  readonly replicas: number
  /** Milliseconds to wait for them. */
  readonly patience: number
  fenceOf(itemKey: string): string
}

type Result = readonly [error: Error | null, answer: unknown]

/** How often a pipeline is sent again to where the slot has moved. */
const mostRedirections = 3

const isRedirection = (error?: Error | null): boolean => /^(?:MOVED|ASK) /u.test(error?.message ?? '')

/** The answers, each of which may be a refusal. A pipeline of ioredis resolves also when the connection is lost, and that is none. */
async function ask(client: RedisClient, commands: readonly Write['command'][]): Promise<readonly Result[]> {
  const results = (await client.pipeline(commands.map((command) => [...command])).exec()) as Result[]
  const lost = results.find(([error]) => error !== null && !isReplyError(error))
  if (lost !== undefined) throw lost[0]
  return results
}

/** ioredis follows the redirection of a pipeline only when every command got it, and WAIT gets none. */
async function send(
  { client, run }: Connection,
  itemKey: string,
  commands: readonly Write['command'][],
): Promise<readonly Result[]> {
  for (let attempt = 0; ; attempt += 1) {
    const results = await run(() => ask(client, commands))
    // What was performed is not sent again, wherever its fence would have to go.
    if (attempt === mostRedirections || !isRedirection(results[0]?.[0])) return results
    // A single command ioredis does follow, and it looks up the slots again.
    await run(() => client.exists(itemKey))
  }
}

/** Whether Redis has changed something, so that WAIT waits for it. */
const hasWritten = ([error, answer]: Result): boolean => error === null && (answer === 'OK' || Number(answer) > 0)

/**
 * Performs writes of one server and waits until so many replicas have them, and everything that was written before them, by whomever:
 * "the item is there already" is as good as "created" only when the item that is there is on the replicas too. Replication is one linear
 * stream, but WAIT is about what its own connection has written; so an insert that found an item writes something behind it, the fence.
 */
export async function confirm(
  connection: Connection,
  writes: readonly Write[],
  { replicas, patience, fenceOf }: Confirmation,
): Promise<readonly Outcome[]> {
  const itemKey = writes[0]?.itemKey ?? ''
  const results = await send(connection, itemKey, [
    ...writes.map(({ command }) => command),
    ['set', fenceOf(itemKey), '1', 'PX', 1000],
    ['wait', replicas, patience],
  ])
  const [fence, wait] = results.slice(writes.length) as [Result, Result]
  const reached = wait[0] ? 0 : Number(wait[1])
  return writes.map((_, index): Outcome => {
    const result = results[index] as Result
    const [error, answer] = result
    // A server that is full takes no fence, but it can remove.
    const cause = error ?? wait[0] ?? (hasWritten(result) ? null : fence[0])
    if (cause) return { error: connection.explain(cause) }
    if (reached >= replicas) return { answer }
    return {
      error: connection.failure(`has confirmed a write on ${reached} of ${replicas} replicas in ${patience} ms`),
    }
  })
}
