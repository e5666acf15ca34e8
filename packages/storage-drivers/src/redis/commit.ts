import type { DriverChanges, DriverItem } from '@grantry/core'
import { collectTurn } from './collect-turn.ts'
import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import type { RedisSettings } from './options.ts'
import type { Writer } from './writer.ts'

// KEYS: of each commit the keys to create, to put and to remove. ARGV: the number of commits; for each commit how many
// keys to create, to write (create and put) and to remove, then the value and the milliseconds of each item to write.
// Returns for each commit which of its keys to create exist: if there are any, it has written nothing.
// Redis runs a script alone and replicates its writes together, so a commit happens completely or not at all. It refuses
// a script, because it is full or a replica, only before its first write.
const script = `local replies = {}
local key, argument = 0, 1
for commit = 1, tonumber(ARGV[1]) do
  local created = tonumber(ARGV[argument + 1])
  local written = tonumber(ARGV[argument + 2])
  local removed = tonumber(ARGV[argument + 3])
  argument = argument + 3
  local existing = {}
  for index = 1, created do
    if redis.call('EXISTS', KEYS[key + index]) == 1 then existing[#existing + 1] = index end
  end
  if #existing == 0 then
    for index = 1, written do
      redis.call('SET', KEYS[key + index], ARGV[argument + 2 * index - 1], 'PX', ARGV[argument + 2 * index])
    end
    for index = written + 1, written + removed do redis.call('UNLINK', KEYS[key + index]) end
  end
  replies[commit] = existing
  key = key + written + removed
  argument = argument + 2 * written
end
return replies`

/** Returns the milliseconds after which an item expires. */
function lifetimeOf({ ttl }: DriverItem): number {
  const milliseconds = Math.ceil(ttl * 1000)
  if (!(ttl > 0)) throw new RangeError(`The ttl of a committed item is ${ttl} s; give more than 0`)
  // Redis would reject a larger number in the middle of the script, after it has written other items.
  if (!Number.isSafeInteger(milliseconds)) throw new RangeError(`The ttl of a committed item is ${ttl} s; give less`)
  return milliseconds
}

/** The part of a commit in the script. */
interface Part {
  readonly itemKeys: readonly string[]
  readonly parameters: readonly (string | number)[]
}

interface PendingCommit extends Part {
  resolve(reply: unknown): void
  reject(error: unknown): void
}

function commandOf(parts: readonly Part[]): [name: string, ...parameters: (string | number)[]] {
  const command: [string, ...(string | number)[]] = ['eval', script, 0]
  for (const { itemKeys } of parts) command.push(...itemKeys)
  command[2] = command.length - 3
  command.push(parts.length)
  for (const { parameters } of parts) command.push(...parameters)
  return command
}

const repliesIn = (reply: unknown, { length }: readonly Part[]): readonly unknown[] =>
  Array.isArray(reply) && reply.length === length ? reply : []

/** Performs the commits of one turn of the event loop with one command, each by itself. */
function batchCommits({ writes }: Pick<Connections, 'writes'>): (part: Part) => Promise<unknown> {
  async function perform(batch: readonly PendingCommit[]): Promise<void> {
    try {
      const replies = repliesIn(await writes.run(() => writes.client.call(...commandOf(batch))), batch)
      for (const [index, { resolve }] of batch.entries()) resolve(replies[index])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  const add = collectTurn<PendingCommit>(writes, (batch) => void perform(batch))
  return ({ itemKeys, parameters }) => new Promise((resolve, reject) => add({ itemKeys, parameters, resolve, reject }))
}

/** Performs a commit with a script, on a single server. */
export function createCommit({
  write,
  connections,
  keys,
  settings: { replicas },
}: {
  readonly write: Writer
  readonly connections: Pick<Connections, 'open' | 'writes'>
  readonly keys: Pick<ItemKeys, 'of'>
  readonly settings: Pick<RedisSettings, 'replicas'>
}) {
  const { open } = connections
  const batched = batchCommits(connections)

  /** Returns the reply of Redis once the replicas have the commit. */
  async function confirmed(part: Part): Promise<unknown> {
    const [first = ''] = part.itemKeys
    // While the replicas do not confirm, nothing is written: a code that an unconfirmed commit has spent has no retry.
    await write(first, ['exists', first])
    return repliesIn(await write(first, commandOf([part])), [part])[0]
  }

  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const opening = open()
    if (opening !== undefined) await opening
    const items = create.length === 0 ? put : [...create, ...put]
    const itemKeys: string[] = []
    const parameters: (string | number)[] = [create.length, items.length, remove.length]
    for (const item of items) {
      itemKeys.push(keys.of(item.key))
      parameters.push(item.value, lifetimeOf(item))
    }
    for (const key of remove) itemKeys.push(keys.of(key))
    if (itemKeys.length === 0) return true
    const part = { itemKeys, parameters }
    const reply = await (replicas > 0 ? confirmed(part) : batched(part))
    if (!Array.isArray(reply)) throw new Error('Redis returned an unexpected reply to a script')
    if (reply.length === 0) return true
    const existing = create.filter((_, index) => reply.includes(index + 1))
    if (existing.length === 0) throw new Error('Redis returned an unexpected reply to a script')
    return existing.map(({ key }) => key)
  }
}
