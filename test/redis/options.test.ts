// Invalid options throw immediately, with a message that does not quote a URL, which may contain a password.
import type { RedisDriverOptions } from '@grantry/storage-drivers/redis'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { redisDrivers } from '../support/redis-drivers.ts'

const secret = 'the-p@ssword'
const quoted = encodeURIComponent(secret)

describe('redisDriver() throws', () => {
  const driverOf = redisDrivers()
  const client = () => new Redis({ lazyConnect: true })

  test.each<[what: string, options: unknown, sentence: RegExp]>([
    ['without an address', {}, /set exactly one of url, cluster, sentinels and client/u],
    ['with two addresses', { url: 'redis://127.0.0.1', client: client() }, /set exactly one of url/u],
    ['with another protocol', { url: `http://:${quoted}@127.0.0.1` }, /a URL does not have the form redis:\/\//u],
    ['with an invalid URL', { url: `redis://:${secret}@ x:y` }, /a URL does not have the form redis:\/\//u],
    ['with an invalid database', { url: 'redis://127.0.0.1/x' }, /a URL does not have the form/u],
    ['with a query', { url: 'redis://127.0.0.1?db=1' }, /a URL does not have the form/u],
    ['with a password that cannot be decoded', { url: 'redis://:%ff@127.0.0.1' }, /a URL does not have the form/u],
    ['with a cluster of no nodes', { cluster: [] }, /cluster is empty/u],
    ['with no Sentinel', { sentinels: [], name: 'tokens' }, /sentinels is empty/u],
    ['with an empty prefix', { url: 'redis://127.0.0.1', prefix: '' }, /the prefix is empty/u],
    [
      'with a fraction of a replica',
      { url: 'redis://127.0.0.1', waitReplicas: 0.5 },
      /waitReplicas must be a whole number/u,
    ],
    [
      'with a negative number of replicas',
      { url: 'redis://127.0.0.1', waitReplicas: -1 },
      /waitReplicas must be a whole number/u,
    ],
    ['with a time limit of 0', { url: 'redis://127.0.0.1', operationTimeout: 0 }, /operationTimeout must be/u],
    [
      'with a time limit that is not a number',
      { url: 'redis://127.0.0.1', operationTimeout: Number.NaN },
      /operationTimeout/u,
    ],
    ['for a client with a keyPrefix', { client: new Redis({ lazyConnect: true, keyPrefix: 'x' }) }, /keyPrefix/u],
    [
      'for a client that reads from replicas',
      { client: new Cluster([{ port: 1 }], { lazyConnect: true, scaleReads: 'slave' }) },
      /reads from replicas/u,
    ],
    ['for a client that resends commands', { client: client() }, /autoResendUnfulfilledCommands: false/u],
    [
      'for a cluster client that resends commands',
      { client: new Cluster([{ port: 1 }], { lazyConnect: true, retryDelayOnFailover: 0 }) },
      /autoResendUnfulfilledCommands: false/u,
    ],
    [
      'for a cluster client that resends commands after a failover',
      {
        client: new Cluster([{ port: 1 }], {
          lazyConnect: true,
          redisOptions: { autoResendUnfulfilledCommands: false },
        }),
      },
      /retryDelayOnFailover: 0/u,
    ],
  ])('%s', (_, options, sentence) => {
    expect(() => driverOf(options as RedisDriverOptions)).toThrow(sentence)
    expect(() => driverOf(options as RedisDriverOptions)).not.toThrow('the-p')
  })
})
