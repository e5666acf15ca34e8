import type { ProviderOptions } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair } from 'jose'
import { builtInPlugins, clients, scopes, testUsers } from '../support/fixture.ts'

/** Options of a provider. The test provider cannot be used, because it observes events itself. */
export async function fixtureOptions(): Promise<ProviderOptions> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  return {
    issuer: 'https://id.example.com',
    keys: [await exportJWK(privateKey)],
    storage: mapDriver(),
    clients,
    scopes,
    users: testUsers().service,
    plugins: builtInPlugins,
  }
}
