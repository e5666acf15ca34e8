import { Redis } from 'ioredis'
import type { TorturedStore } from './stores.ts'
import { type Examination, examine } from './whole-records.ts'

/** The content of one Redis server. A value without an expiry counts as broken: nothing else would ever remove it. */
async function examineServer(port: number): Promise<Examination> {
  const client = new Redis({ port, host: '127.0.0.1' })
  const values: [string, string][] = []
  const immortal: string[] = []
  try {
    for await (const keys of client.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
      const read = client.pipeline()
      for (const key of keys) read.get(key).pttl(key)
      const responses = (await read.exec()) ?? []
      for (const [index, key] of keys.entries()) {
        const [value, left] = [responses[2 * index]?.[1], responses[2 * index + 1]?.[1]]
        // A fence is not an item: the driver writes it to wait for earlier writes.
        const isFence = key.includes(':fence:{')
        // -2: it has expired in between.
        if (left !== -2 && !isFence) values.push([key, String(value)])
        if (left === -1) immortal.push(`${key}: has no expiry`)
      }
    }
  } finally {
    client.disconnect()
  }
  const { records, broken } = examine(values)
  return { records, broken: [...broken, ...immortal] }
}

/**
 * @param configuration how a server finds it, beside the driver. @param port resolves to that of the server that has
 * the data now.
 */
export const redisStore = (configuration: object, port: () => Promise<number>): TorturedStore => ({
  configuration: { driver: 'redis', ...configuration },
  examine: async () => examineServer(await port()),
})
