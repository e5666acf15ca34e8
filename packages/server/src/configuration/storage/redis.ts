import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { numeric } from '../../numeric.ts'
import { passwordEntries, passwordOf } from '../password-file.ts'
import type { ConfiguredStorage } from './configured-storage.ts'
import { operationTimeout, text } from './fields.ts'

const form =
  'must be a URL such as redis://127.0.0.1:6379; percent-encode special characters of a password in it, or set storage.password'

const redisUrl = v.pipe(
  v.string(form),
  v.check((url) => URL.canParse(url) && /^rediss?:$/u.test(new URL(url).protocol), form),
)

const sentinelSchema = configurationObject({
  // A URL could contain a password, and the error for an unknown host would quote it.
  host: v.pipe(text('the host of a Sentinel'), v.regex(/^[^/@\s]+$/u, 'must be the host of a Sentinel, not a URL')),
  port: v.optional(
    v.pipe(
      numeric('must be a port'),
      v.integer('must be a port'),
      v.minValue(1, 'must be a port from 1 to 65535'),
      v.maxValue(65_535, 'must be a port from 1 to 65535'),
    ),
    26_379,
  ),
})

export const redisSchema = v.pipe(
  configurationObject({
    driver: v.literal('redis'),
    /** Such as `rediss://redis.example.com:6379` for TLS. */
    url: v.optional(redisUrl),
    /** The URLs of nodes of a Redis Cluster, instead of `url`. */
    cluster: v.optional(v.pipe(v.array(redisUrl, 'must be an array of URLs'), v.nonEmpty('must not be empty'))),
    /** The Sentinels that know the primary, instead of `url`. */
    sentinels: v.optional(
      v.pipe(v.array(sentinelSchema, 'must be an array of { host, port }'), v.nonEmpty('must not be empty')),
    ),
    /** The name under which the Sentinels know the primary. */
    name: v.optional(text('the name under which the Sentinels know the primary')),
    /** The user of the server, if it has users. */
    username: v.optional(text('the user of the Redis server')),
    ...passwordEntries,
    /** The prefix of all keys. */
    prefix: v.optional(text('a non-empty string'), 'grantry'),
    /** How many replicas must confirm a write. */
    waitReplicas: v.optional(
      v.pipe(numeric('must be a number'), v.integer('must be a whole number'), v.minValue(0, 'must be 0 or more')),
      0,
    ),
    /** Seconds after which an operation fails. */
    operationTimeout,
  }),
  v.check(
    ({ url, cluster, sentinels }) => [url, cluster, sentinels].filter((way) => way !== undefined).length === 1,
    'must have exactly one of url, cluster and sentinels',
  ),
  v.check(
    ({ sentinels, name }) => (sentinels === undefined) === (name === undefined),
    'must have sentinels and name together',
  ),
)

const hostOf = (url: string): string => new URL(url).host

/** Loads the Redis client only if it is needed. */
export async function configuredRedis(
  storage: v.InferOutput<typeof redisSchema>,
  directory: string,
): Promise<ConfiguredStorage> {
  const { redisDriver } = await import('@grantry/storage-drivers/redis')
  const { prefix, waitReplicas, operationTimeout, username } = storage
  const password = passwordOf(storage, directory, 'storage')
  const settings = {
    prefix,
    waitReplicas,
    operationTimeout,
    connection: { ...(username !== undefined && { username }), ...(password !== undefined && { password }) },
  }
  const waits = waitReplicas === 0 ? '' : `, each write replicated to ${waitReplicas}`
  const described = (servers: string): string => `redis: ${servers}, prefix ${prefix}${waits}`
  if (storage.cluster !== undefined) {
    const driver = redisDriver({ ...settings, cluster: storage.cluster })
    return { driver, description: described(`cluster ${storage.cluster.map(hostOf).join(', ')}`) }
  }
  if (storage.sentinels !== undefined) {
    const { sentinels, name = '' } = storage
    const places = sentinels.map(({ host, port }) => `${host}:${port}`).join(', ')
    const driver = redisDriver({ ...settings, sentinels, name })
    return { driver, description: described(`${name} via Sentinels ${places}`) }
  }
  const { url = '' } = storage
  return { driver: redisDriver({ ...settings, url }), description: described(hostOf(url)) }
}
