import { createHash } from 'node:crypto'
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'

/** A storage that lists its records by what they are, with the seconds until they end. */
export function namedRecords(now: () => number) {
  const texts = new Map<string, string>()
  const sha256Hex = (text: string): string => {
    const hex = createHash('sha256').update(text).digest('hex')
    texts.set(hex, text)
    return hex
  }
  /** Such as `plugin authorization-endpoint consent:…`, or `refresh`. */
  function nameOf(key: string): string {
    const [kind = '', ...rest] = key.split(':')
    const text = texts.get(rest.at(-1) ?? '')
    if ((kind !== 'plugin' && kind !== 'count') || text === undefined) return key
    const parsed: unknown = text.startsWith('[') ? JSON.parse(text) : undefined
    return Array.isArray(parsed) && typeof parsed[0] === 'string' && parsed[0].startsWith('https://')
      ? `${kind} ${parsed.slice(1).join(' ')}`
      : `${kind} ${text}`
  }
  const driver = memoryDriver()
  const ends = new Map<string, number>()
  const storage: AtomicDriver = {
    ...driver,
    incrementItem(key, options) {
      ends.set(key, now() + options.ttl)
      return driver.incrementItem?.(key, options) as number
    },
  }
  const endOf = (key: string, text: string): number => ends.get(key) ?? Number(JSON.parse(text).expiresAt)
  /** The records that have not ended, with the seconds until their end. */
  const records = () =>
    [...driver.getInstance()].flatMap(([key, item]) => {
      const left = endOf(key, (item as { readonly value: string }).value) - now()
      return left <= 0 ? [] : [[nameOf(key), left] as const]
    })
  const values = () =>
    [...driver.getInstance()].map(([key, item]) => [key, (item as { readonly value: string }).value] as const)
  return { storage, sha256Hex, records, values }
}
