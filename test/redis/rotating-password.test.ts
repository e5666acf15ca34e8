// A password that changes while the server runs: connections that begin afterwards use what the file says then.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { expect, onTestFinished, test } from 'vitest'
import { configuredStorage, storageSchema } from '../../packages/server/src/configuration/storage/storage-drivers.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisServers } from '../support/redis-servers.ts'

describeWithRedis('a password of Redis that changes', () => {
  const servers = redisServers()

  test('needs no restart: with a file, the next connection has the new one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'grantry-password-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const server = await servers.start()
    await server.command('ACL', 'SETUSER', 'rotating', 'on', '>first', '~*', '&*', '+@all')
    writeFileSync(join(directory, 'password'), 'first\n')
    const setting = { driver: 'redis', url: server.url, username: 'rotating', passwordFile: 'password' }
    const { driver } = await configuredStorage(parseConfiguration(storageSchema, setting, 'storage'), directory)
    onTestFinished(() => driver.dispose?.())
    await driver.setItem('key', '"before"', { ttl: 60 })

    await server.command('ACL', 'SETUSER', 'rotating', 'resetpass', '>second')
    // While the file has the old one, the server refuses it.
    await server.command('CLIENT', 'KILL', 'USER', 'rotating')
    const read = async () => driver.getItem('key')
    await expect.poll(() => read().then(String, String)).toContain('Redis')
    writeFileSync(join(directory, 'password'), 'second')
    await expect.poll(() => read().catch(() => undefined)).toBe('"before"')
  })
})
