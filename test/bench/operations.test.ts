import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSlice } from '../../bench/load/run-slice.ts'
import {
  type OperationName,
  operationNames,
  postgresqlOperationNames,
  redisOperationNames,
  signInOperation,
} from '../../bench/operations.ts'
import { type Bundles, openBundles } from '../../bench/run/bundles.ts'
import { tokensFor } from '../../bench/run/present-tokens.ts'
import { type ServerProcess, startServer } from '../../bench/run/server-process.ts'
import { servers, supports } from '../../bench/run/servers.ts'
import { newSetting, publicKeyOf, type Setting } from '../../bench/setting.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const connections = 4
const seconds = 0.1

let bundles: Bundles
beforeAll(() => {
  bundles = openBundles(new URL('../../bench/', import.meta.url))
})
afterAll(() => bundles.remove())

async function expectCorrect(server: ServerProcess, operation: OperationName, setting: Setting): Promise<void> {
  const tokens = await tokensFor(server, operation, 50)
  const publicKey = publicKeyOf(setting)
  const slice = { operation, ports: [server.port], tokens, seconds, connections, publicKey, polls: true }
  const { requests, failures, firstFailure, generatorLoad } = await runSlice(slice)
  expect({ failures, firstFailure }).toEqual({ failures: 0, firstFailure: undefined })
  // The time in which it polled in vain is not load.
  expect(generatorLoad).toBeLessThan(1)
  expect(requests).toBeGreaterThanOrEqual(connections)
}

describe('the measured servers', () => {
  const measured = servers.filter(({ name }) => name === 'limit-node' || name === 'grantry-node')
  describe.each(measured)('$name', (server) => {
    it.each(operationNames.filter((operation) => supports(server, operation)))(
      '%s: every response is correct',
      async (operation) => {
        const setting = newSetting(operation)
        const started = await startServer([process.execPath, await bundles.bundle(server.program)], setting)
        try {
          await expectCorrect(started, operation, setting)
        } finally {
          await started.stop()
        }
      },
    )
  })
})

describeWithRedis('the measured servers on Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  describe.each(['programs/limit-redis-node.ts', 'programs/grantry-redis-node.ts'])('%s', (program) => {
    let server: ServerProcess
    let setting: Setting
    beforeAll(async () => {
      setting = newSetting('password', { storeUrl: redis.url })
      server = await startServer([process.execPath, await bundles.bundle(program)], setting)
    })
    afterAll(() => server.stop())

    // A sign-in needs a server with other plugins.
    it.each(redisOperationNames.filter((operation) => operation !== signInOperation))(
      '%s: every response is correct',
      (operation) => expectCorrect(server, operation, setting),
    )
  })

  it('sign-in: every response of Grantry is correct', async () => {
    const setting = newSetting(signInOperation, { storeUrl: redis.url })
    const program = await bundles.bundle('programs/grantry-redis-node.ts')
    const server = await startServer([process.execPath, program], setting)
    try {
      await expectCorrect(server, signInOperation, setting)
    } finally {
      await server.stop()
    }
  })
})

describeWithPostgresql('the measured servers on PostgreSQL', () => {
  const start = postgresqlServers()
  const programs = ['programs/limit-postgresql-node.ts', 'programs/grantry-postgresql-node.ts']

  it.each(programs)('%s: every response is correct', async (program) => {
    const { url } = await start()
    const setting = newSetting('refresh', { storeUrl: url })
    const server = await startServer([process.execPath, await bundles.bundle(program)], setting)
    try {
      for (const operation of postgresqlOperationNames) await expectCorrect(server, operation, setting)
    } finally {
      await server.stop()
    }
  })
})
