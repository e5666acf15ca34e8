import { createProvider, type ProviderOptions, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

// A mistyped option must not be ignored silently: the setting that it was meant for would keep its default.

const client = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}

const good = (): ProviderOptions => ({
  issuer: 'https://id.example.com',
  keys: signingKeys(),
  storage: mapDriver(),
  clients: [client],
  scopes: [{ name: 'api1' }],
  plugins: [clientCredentials()],
})

const start = (wrong: object) => createProvider({ ...good(), ...wrong })

describe('an unknown option', () => {
  test('the options without a mistake start', async () => {
    await expect(start({})).resolves.toMatchObject({ issuer: 'https://id.example.com' })
  })

  test.each([
    ['at the top level', { isuer: 'x' }, 'createProvider(): isuer is not a known option; did you mean issuer?'],
    ['in another case', { Issuer: 'x' }, 'createProvider(): Issuer is not a known option; did you mean issuer?'],
    [
      'with the value undefined',
      { userz: undefined },
      'createProvider(): userz is not a known option; did you mean users?',
    ],
    [
      'that is like no known one',
      { certificateChain: 'x' },
      'createProvider(): certificateChain is not a known option here; known options: issuer, keys, storage, storageTimeLimit, hostTimeLimit, maxHostCalls, clients, scopes, users, ' +
        'plugins, endpoints, introspection, clientTokenSubject, unavailableScopes, refusedSecrets, clockTolerance, bodyLimit, abuseControl, authorizationEndpoint, observe, traceHeaders, runtime',
    ],
    [
      'in endpoints',
      { endpoints: { acessTokenValidation: false } },
      'createProvider(): endpoints.acessTokenValidation is not a known option; did you mean accessTokenValidation?',
    ],
    [
      'in introspection',
      { introspection: { unrelatedScopes: 'unauthorized' } },
      'createProvider(): introspection.unrelatedScopes is not a known option; did you mean unrelatedScope?',
    ],
    [
      'in abuseControl',
      { abuseControl: { password: {} } },
      'createProvider(): abuseControl.password is not a known option; did you mean passwords?',
    ],
    [
      'in clients[i]',
      { clients: [client, { ...client, clientId: 'two', grantType: [] }] },
      'clients[1] ("two"): grantType is not a known option; did you mean grantTypes?',
    ],
    [
      'in refreshToken of clients[i]',
      { clients: [{ ...client, refreshToken: { usge: 'rotate' } }] },
      'clients[0] ("web"): refreshToken.usge is not a known option; did you mean usage?',
    ],
    [
      'in a secret of clients[i]',
      { clients: [{ ...client, secrets: [{ sha265: sha256Of('web-secret') }] }] },
      'clients[0] ("web"): secrets[0].sha265 is not a known option; did you mean sha256?',
    ],
    [
      'in scopes[i]',
      { scopes: [{ name: 'api1' }, { name: 'api2', claim: [] }] },
      'scopes[1] ("api2"): claim is not a known option; did you mean claims?',
    ],
    // An ignored clock: codes would use another clock than the caller expects.
    [
      'in runtime',
      { runtime: { nwo: () => 1 } },
      'createProvider(): runtime.nwo is not a known option; did you mean now?',
    ],
  ])('is rejected by name %s, with the nearest known one', async (_where, wrong, message) => {
    await expect(start(wrong)).rejects.toMatchObject({ name: 'TypeError', message })
  })

  // A class instance may have additional methods, so the users port cannot be strict; but an object with none of the
  // three is a mistake, and without isActive() every user counts as active.
  test.each([
    ['isActive', { isActve: () => false }],
    ['authenticate', { authentcate: () => undefined }],
    ['claims', { claim: () => ({}) }],
  ])('rejects users that have only a mistyped %s()', async (method, users) => {
    await expect(start({ users })).rejects.toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(new RegExp(`^createProvider\\(\\): users .*${method}\\(\\)`)),
    })
  })
})
