import { resolve } from 'node:path'
import { type AtomicDriver, configurationObject } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'

const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.nonEmpty(`must be ${what}`))

const redisUrl = v.pipe(
  v.string('must be a URL such as redis://127.0.0.1:6379'),
  v.check(
    (url) => URL.canParse(url) && /^rediss?:$/u.test(new URL(url).protocol),
    'must be a URL such as redis://127.0.0.1:6379',
  ),
)

const sentinelSchema = configurationObject({
  // A URL could contain a password, and the error for an unknown host would quote it.
  host: v.pipe(text('the host of a Sentinel'), v.regex(/^[^/@\s]+$/u, 'must be the host of a Sentinel, not a URL')),
  port: v.optional(
    v.pipe(
      v.number('must be a port'),
      v.integer('must be a port'),
      v.minValue(1, 'must be a port from 1 to 65535'),
      v.maxValue(65_535, 'must be a port from 1 to 65535'),
    ),
    26_379,
  ),
})

const redisSchema = v.pipe(
  configurationObject({
    driver: v.literal('redis'),
    url: v.optional(redisUrl),
    cluster: v.optional(v.pipe(v.array(redisUrl, 'must be an array of URLs'), v.nonEmpty('must not be empty'))),
    sentinels: v.optional(
      v.pipe(v.array(sentinelSchema, 'must be an array of { host, port }'), v.nonEmpty('must not be empty')),
    ),
    name: v.optional(text('the name under which the Sentinels know the primary')),
    username: v.optional(text('the user of the Redis server')),
    password: v.optional(text('the password of the Redis server')),
    prefix: v.optional(text('a non-empty string'), 'grantry'),
    waitReplicas: v.optional(
      v.pipe(v.number('must be a number'), v.integer('must be a whole number'), v.minValue(0, 'must be 0 or more')),
      0,
    ),
    operationTimeout: v.optional(
      v.pipe(
        v.number('must be a number of seconds'),
        v.minValue(0.05, 'must be 0.05 to 60 seconds'),
        v.maxValue(60, 'must be 0.05 to 60 seconds'),
      ),
      2,
    ),
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

const filesystemSchema = configurationObject({
  driver: v.literal('filesystem'),
  directory: v.optional(text('the path of a directory'), './.grantry'),
  fsync: v.optional(v.boolean('must be true or false'), true),
})

const memorySchema = configurationObject({ driver: v.literal('memory') })

export const schemas = { memory: memorySchema, filesystem: filesystemSchema, redis: redisSchema } as const
const objectSchema = configurationObject({})
const drivers = Object.keys(schemas) as readonly (keyof typeof schemas)[]
// Loose: the settings of an unknown driver are not wrong, its name is.
const unknownDriver = v.looseObject(
  {
    driver: v.picklist(
      drivers,
      `must be one of ${drivers.join(', ')}; for another store, write a driver and embed the library (docs/guides/custom-driver.md)`,
    ),
  },
  ({ input }) =>
    input === undefined
      ? `is required: one of ${drivers.join(', ')}`
      : (v.safeParse(objectSchema, input).issues?.[0].message ?? ''),
)

type StorageSchema = (typeof schemas)[keyof typeof schemas]
export type StorageInput = v.InferInput<StorageSchema>
export type StorageConfiguration = v.InferOutput<StorageSchema>

/** Chosen by the name of the driver. The errors of a union would not name the path. */
export const storageSchema: v.GenericSchema<StorageInput, StorageConfiguration> = v.lazy((storage) => {
  const driver = (storage as { readonly driver?: unknown } | null)?.driver
  const known = drivers.find((name) => name === driver)
  return known === undefined ? unknownDriver : schemas[known]
}) as v.GenericSchema<StorageInput, StorageConfiguration>

/** A driver and its description for the operator, without passwords. */
export interface ConfiguredStorage {
  readonly driver: AtomicDriver
  readonly description: string
}

const hostOf = (url: string): string => new URL(url).host

/** Creates the configured driver. Loads the Redis client only if it is needed. */
export async function configuredStorage(storage: StorageConfiguration, directory: string): Promise<ConfiguredStorage> {
  if (storage.driver === 'memory') {
    return { driver: memoryDriver(), description: 'memory: codes and tokens are lost when this process ends' }
  }
  if (storage.driver === 'filesystem') {
    const { filesystemDriver } = await import('@grantry/storage-drivers/filesystem')
    const path = resolve(directory, storage.directory)
    const note = storage.fsync ? '' : ', without fsync: a power failure can lose the last seconds'
    return {
      driver: filesystemDriver({ directory: path, fsync: storage.fsync }),
      description: `filesystem: ${path}${note}`,
    }
  }
  const { redisDriver } = await import('@grantry/storage-drivers/redis')
  const { prefix, waitReplicas, operationTimeout, username, password } = storage
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
