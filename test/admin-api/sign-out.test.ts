// What a change over HTTP does to the sessions of a user: as by command.
import { createProvider, defineHostFunctions, definePlugin, hostKey, parseConfiguration } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, onTestFinished, test } from 'vitest'
import { openAdminHost } from '../../packages/server/src/administration/admin-host.ts'
import { providerOptions } from '../../packages/server/src/provider-options/provider-options.ts'
import { configurationSchema } from '../support/configuration-schema.ts'

test('a user who is disabled is signed out, and the clients of the sessions are informed', async () => {
  const ended: string[] = []
  const key = hostKey<{ endAll(sub: string): Promise<number> }>('user-sessions', 'recorder()')
  const recorder = definePlugin('recorder', [
    defineHostFunctions(key, () => ({
      async endAll(sub: string) {
        ended.push(sub)
        return 1
      },
    })),
  ])
  const written = {
    issuer: 'https://id.example.com',
    storage: { driver: 'memory' },
    administration: true,
    clients: [],
    plugins: [recorder],
  }
  const configuration = parseConfiguration(configurationSchema, written, '')
  const storage = memoryDriver()
  const built = await providerOptions({ configuration, directory: '.' }, storage, () => {})
  const provider = await createProvider(built)
  onTestFinished(() => provider.close())
  const { administration } = openAdminHost({ configuration, directory: '.' }, storage, provider, built)
  const { users } = administration.as({ who: 'client:ops', from: '192.0.2.7' })
  const { id } = await users.add({ username: 'alice' })
  await users.edit(id, { claims: { name: 'Alice' } })
  expect(ended).toEqual([])
  await users.edit(id, { active: false })
  expect(ended).toEqual([id])
})
