import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

// test/deploy/two-servers.test.ts proves that the process waits this long.

const directory = mkdtempSync(join(tmpdir(), 'grantry-shutdown-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const configuration = { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [] }

describe('a server that is shutting down', () => {
  test('is not ready but alive, and still serves requests', async () => {
    const file = join(directory, 'grantry.config.json')
    writeFileSync(file, JSON.stringify(configuration))
    const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
    const send = async (path: string): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${server.running.port}${path}`)
      return [response.status, await response.json()]
    }
    try {
      expect(await send('/health/ready')).toEqual([200, { status: 'ready' }])
      server.beginShutdown()
      expect(await send('/health/ready')).toEqual([503, { status: 'stopping' }])
      expect(await send('/health/live')).toEqual([200, { status: 'live' }])
      expect(await send('/.well-known/openid-configuration')).toMatchObject([200, { issuer: configuration.issuer }])
    } finally {
      await server.close(0)
    }
  })
})

describe('shutdownDelay', () => {
  const parsed = (shutdownDelay: unknown) =>
    parseConfiguration(configurationSchema, { ...configuration, shutdownDelay }, '').shutdownDelay

  test('defaults to 0, so that a server without a load balancer stops immediately', () => {
    expect(parseConfiguration(configurationSchema, configuration, '').shutdownDelay).toBe(0)
    expect(parsed(2.5)).toBe(2.5)
  })

  test.each([-1, 301, Number.NaN, '-5', '5 s', null])('rejects %j with its path', (value) => {
    expect(() => parsed(value)).toThrow(/^shutdownDelay must be/u)
  })
})
