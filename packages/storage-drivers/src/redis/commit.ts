import type { DriverChanges, DriverItem } from '@grantry/core'
import type { ItemKeys } from './item-key.ts'
import type { RedisSettings } from './options.ts'
import type { Writer } from './writer.ts'

// KEYS: the keys to create, to put and to remove. ARGV: how many of them to create, then the value and the milliseconds
// of each item. Redis runs a script alone and replicates its writes together, so all of them happen or none.
const commitScript = `local existing = {}
for index = 1, tonumber(ARGV[1]) do
  if redis.call('EXISTS', KEYS[index]) == 1 then existing[#existing + 1] = index end
end
if #existing > 0 then return existing end
local written = (#ARGV - 1) / 2
for index = 1, written do redis.call('SET', KEYS[index], ARGV[2 * index], 'PX', ARGV[2 * index + 1]) end
for index = written + 1, #KEYS do redis.call('UNLINK', KEYS[index]) end
return redis.status_reply('OK')`

/** Returns the milliseconds after which an item expires. */
function lifetimeOf({ ttl }: DriverItem): number {
  const milliseconds = Math.ceil(ttl * 1000)
  if (!(ttl > 0)) throw new RangeError(`The ttl of a committed item is ${ttl} s; give more than 0`)
  // Redis would reject a larger number in the middle of the script, after it has written other items.
  if (!Number.isSafeInteger(milliseconds)) throw new RangeError(`The ttl of a committed item is ${ttl} s; give less`)
  return milliseconds
}

/** Performs a commit with one script, on a single server. */
export function createCommit(write: Writer, keys: Pick<ItemKeys, 'of'>, { replicas }: Pick<RedisSettings, 'replicas'>) {
  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const items = create.length === 0 ? put : [...create, ...put]
    const command: [string, ...(string | number)[]] = ['eval', commitScript, items.length + remove.length]
    for (const { key } of items) command.push(keys.of(key))
    for (const key of remove) command.push(keys.of(key))
    const first = command[3] as string | undefined
    if (first === undefined) return true
    command.push(create.length)
    for (const item of items) command.push(item.value, lifetimeOf(item))
    // While the replicas do not confirm, nothing is written: a code that an unconfirmed commit has spent has no retry.
    if (replicas > 0) await write(first, ['exists', first])
    const reply = await write(first, command)
    if (reply === 'OK') return true
    const existing = Array.isArray(reply) ? create.filter((_, index) => reply.includes(index + 1)) : []
    if (existing.length === 0) throw new Error('Redis returned an unexpected reply to a script')
    return existing.map(({ key }) => key)
  }
}
