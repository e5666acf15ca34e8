import type { DriverChanges, DriverItem } from '@grantry/core'
import { collectTurn } from './collect-turn.ts'
import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import { isReplyError } from './redis-connection.ts'
import type { RedisSettings } from './redis-options.ts'
import type { Writer } from './writer.ts'

// KEYS: of each commit the keys to create, to put and to remove. ARGV: the number of commits; for each commit how many
// keys to create, to write (create and put) and to remove, then the value and the milliseconds of each item to write.
// Returns for each commit which of its keys to create exist, or its error: if there are any, it has written nothing.
// Redis runs a script alone and replicates its writes together, so a commit happens completely or not at all: Redis can
// refuse only the first write of a script, because it is full. `pcall`: a commit that it refuses must not fail the
// others. A server that has become a replica fails all, so that ioredis reconnects.
const script = `local function perform(key, argument, created, written, removed)
  local existing = {}
  for index = 1, created do
    if redis.call('EXISTS', KEYS[key + index]) == 1 then existing[#existing + 1] = index end
  end
  if #existing > 0 then return existing end
  for index = 1, written do
    redis.call('SET', KEYS[key + index], ARGV[argument + 2 * index - 1], 'PX', ARGV[argument + 2 * index])
  end
  for index = written + 1, written + removed do redis.call('UNLINK', KEYS[key + index]) end
  return existing
end
local replies = {}
local key, argument = 0, 1
for commit = 1, tonumber(ARGV[1]) do
  local created = tonumber(ARGV[argument + 1])
  local written = tonumber(ARGV[argument + 2])
  local removed = tonumber(ARGV[argument + 3])
  argument = argument + 3
  local ok, reply = pcall(perform, key, argument, created, written, removed)
  if not ok then
    if type(reply) ~= 'table' then reply = redis.error_reply(tostring(reply)) end
    if string.find(reply.err, 'READONLY', 1, true) then return reply end
  end
  replies[commit] = reply
  key = key + written + removed
  argument = argument + 2 * written
end
return replies`

/** ioredis would turn a list into several arguments, and so change those of the other commits. */
function textOf({ value }: DriverItem): string {
  if (typeof value === 'string') return value
  throw new TypeError(`The value of a committed item is of the type ${typeof value}; give text`)
}

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
      for (const [index, { resolve, reject }] of batch.entries()) {
        const reply = replies[index]
        if (isReplyError(reply)) reject(writes.explain(reply))
        else resolve(reply)
      }
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
  const { open, writes } = connections
  const batched = batchCommits(connections)

  /** Returns the reply of Redis once the replicas have the commit. */
  async function confirmed(part: Part): Promise<unknown> {
    const [first = ''] = part.itemKeys
    // Checks first that the replicas confirm: a code that an unconfirmed commit has spent could not be redeemed again.
    await write(first, ['exists', first])
    const [reply] = repliesIn(await write(first, commandOf([part])), [part])
    if (isReplyError(reply)) throw writes.explain(reply)
    return reply
  }

  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const opening = open()
    if (opening !== undefined) await opening
    const items = create.length === 0 ? put : [...create, ...put]
    const itemKeys: string[] = []
    const parameters: (string | number)[] = [create.length, items.length, remove.length]
    for (const item of items) {
      itemKeys.push(keys.of(item.key))
      parameters.push(textOf(item), lifetimeOf(item))
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
