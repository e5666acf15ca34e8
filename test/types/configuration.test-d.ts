import { defineConfig } from 'grantry'
import { describe, test } from 'vitest'

declare module '@grantry/core' {
  interface PluginEndpoints {
    testKiosk: true
  }
}

const common = { issuer: 'https://id.example.com', clients: [] }

describe('defineConfig()', () => {
  test('disables and moves endpoints of the core and of plugins', () => {
    defineConfig({ ...common, endpoints: { accessTokenValidation: false, token: '/token', testKiosk: '/kiosk' } })
    // @ts-expect-error the endpoint would stay on
    defineConfig({ ...common, endpoints: { acessTokenValidation: false } })
  })

  test('accepts the options of introspection', () => {
    defineConfig({ ...common, introspection: { unrelatedScope: 'unauthorized' } })
    // @ts-expect-error the behavior of the seed would stay off
    defineConfig({ ...common, introspection: { unrelatedScopes: 'unauthorized' } })
  })
})
